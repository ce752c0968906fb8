/** Whether a user has a second factor, and its removal by an administrator. */
import type { Context } from '#core';
import { endSessions } from '../access/sessions.ts';
import { tell } from '../accounts/notices.ts';
import { dropCodes } from './sms-codes.ts';

/** An authenticator, text messages, a phone, or a factor of another module. Needs the platform's role. */
export async function hasFactor(ctx: Context, userId: string): Promise<boolean> {
  const { rowCount } = await ctx.sql(
    'select 1 from users where id = $1 and (mfa_enabled or phone_number is not null)',
    [userId],
  );
  if (rowCount !== 0) return true;
  for (const factor of ctx.contributions('identity.factor')) if (await factor.enrolled(ctx, userId)) return true;
  return false;
}

/**
 * Removes every factor, phone and recovery code of a user, ends the sessions, and tells the user by mail. The password stays.
 * The caller checks who may do this, and records it. Returns false for a user without a factor. Needs the platform's role.
 */
export async function removeFactors(ctx: Context, userId: string): Promise<boolean> {
  const { rows } = await ctx.sql<{ email: string }>('select email from users where id = $1 for update', [userId]);
  const [user] = rows;
  if (!user || !(await hasFactor(ctx, userId))) return false;
  await ctx.sql(
    `update users set mfa_enabled = false, mfa_method = null, mfa_secret = null, mfa_recovery_codes = null,
       mfa_last_step = null, phone_number = null, phone_verified = false, updated_at = now() where id = $1`,
    [userId],
  );
  for (const factor of ctx.contributions('identity.factor')) await factor.forget(ctx, userId);
  for (const table of ['mfa_challenges', 'mfa_setups', 'mfa_attempts']) {
    await ctx.sql(`delete from ${table} where user_id = $1`, [userId]);
  }
  await dropCodes(ctx, userId);
  await endSessions(ctx, userId);
  tell(ctx, user.email, 'factors-removed');
  return true;
}
