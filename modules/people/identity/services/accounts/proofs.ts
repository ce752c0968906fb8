/** Proof that a user owns an address: they opened a link that was mailed to it. */
import type { Context } from '#core';
import { endSessions } from '../access/sessions.ts';
import { hasFactor } from '../factors/factor-removal.ts';

const OPENED_BY = ['mfa_challenges', 'mfa_setups', 'sms_codes', 'password_resets', 'address_proofs'];

/**
 * `claimable`: the address is not proven, and the account has neither a place nor a factor, so that it belongs to the
 * person who receives its mail. `unproven`: the account is in use, so that only its user can prove the address.
 */
export type AddressState = 'proven' | 'claimable' | 'unproven';

/** Needs the platform's role. */
export async function addressState(ctx: Context, userId: string): Promise<AddressState> {
  const { rows } = await ctx.sql<{ proven: boolean; placed: boolean }>(
    `select email_proven_at is not null as proven,
       exists (select from partner_users where user_id = users.id)
       or exists (select from organization_users where user_id = users.id)
       or exists (select from system_users where user_id = users.id) as placed
     from users where id = $1`,
    [userId],
  );
  if (rows[0]?.proven) return 'proven';
  return rows[0]?.placed || (await hasFactor(ctx, userId)) ? 'unproven' : 'claimable';
}

/**
 * Gives a claimable account to the person who opened a mailed link: its password and sessions end, since another person may
 * have registered the address and waited for its owner to be given access. Returns false, and changes nothing, for any
 * other account. Needs the platform's role.
 */
export async function claimAccount(ctx: Context, userId: string): Promise<boolean> {
  // Locked, so that no place is added between the check and the change.
  await ctx.sql('select from users where id = $1 for update', [userId]);
  if ((await addressState(ctx, userId)) !== 'claimable') return false;
  await ctx.sql(
    `update users set email_proven_at = now(), password_hash = null, password_changed_at = now(), updated_at = now()
     where id = $1`,
    [userId],
  );
  await forgetOpened(ctx, userId);
  return true;
}

/** Records the proof. False when it was recorded before. Needs the platform's role. */
export async function markProven(ctx: Context, userId: string): Promise<boolean> {
  const { rowCount } = await ctx.sql(
    `update users set email_proven_at = now(), updated_at = now()
     where id = $1 and email_proven_at is null and status = 'active'`,
    [userId],
  );
  return rowCount === 1;
}

/** Ends what the old password gave access to: sessions, pending logins and setups, other links. */
export async function forgetOpened(ctx: Context, userId: string): Promise<void> {
  await endSessions(ctx, userId);
  for (const table of OPENED_BY) await ctx.sql(`delete from ${table} where user_id = $1`, [userId]);
}
