/** Proof that a user owns an address: they opened a link that was mailed to it. */
import type { Context } from '#core';
import { endSessions } from '../access/sessions.ts';

const OPENED_BY = ['mfa_challenges', 'mfa_setups', 'sms_codes', 'password_resets', 'mfa_attempts'];

/**
 * Marks the address as proven. The first time, this removes password, second factors and sessions: another person may
 * have registered the address and waited for its owner to be given access. Returns false, and changes nothing, when the
 * address was proven before. Needs the platform's role.
 */
export async function proveAddress(ctx: Context, userId: string): Promise<boolean> {
  const { rowCount } = await ctx.sql(
    `update users set email_proven_at = now(), password_hash = null, password_changed_at = now(), mfa_enabled = false,
       mfa_method = null, mfa_secret = null, mfa_recovery_codes = null, phone_number = null, phone_verified = false,
       updated_at = now()
     where id = $1 and email_proven_at is null`,
    [userId],
  );
  if (rowCount === 0) return false;
  await forgetOpened(ctx, userId);
  for (const factor of ctx.contributions('identity.factor')) await factor.forget(ctx, userId);
  return true;
}

/** Ends what the old password gave access to: sessions, pending logins and setups, other links. */
export async function forgetOpened(ctx: Context, userId: string): Promise<void> {
  await endSessions(ctx, userId);
  for (const table of OPENED_BY) await ctx.sql(`delete from ${table} where user_id = $1`, [userId]);
}
