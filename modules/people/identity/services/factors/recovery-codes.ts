/** Recovery codes replace a lost authenticator or phone; each works once. */
import { type Context, errors } from '#core';
import { hashRecoveryCode, newRecoveryCodes, plainRecoveryCode } from '#core/auth';
import { tell } from '../accounts/notices.ts';
import { mustBeFresh } from './demands.ts';

const storedForm = (ctx: Context, userId: string, code: string) =>
  ctx.services.mac('recovery-code', `${userId} ${plainRecoveryCode(code)}`);

/** The hashes as JSON: useless without this installation's secret, and for any other user. */
export const storedCodes = (ctx: Context, userId: string, codes: readonly string[]): string =>
  JSON.stringify(codes.map((code) => storedForm(ctx, userId, code)));

/** Consumes a code in one statement, so that it cannot be used twice. Codes hashed without the user's id still count. */
export async function acceptRecoveryCode(ctx: Context, userId: string, code: string): Promise<boolean> {
  const { rowCount } = await ctx.sql(
    `update users set mfa_recovery_codes = mfa_recovery_codes - $2::text[]
     where id = $1 and mfa_enabled and mfa_recovery_codes ?| $2::text[]`,
    [userId, [storedForm(ctx, userId, code), hashRecoveryCode(code)]],
  );
  return rowCount === 1;
}

/** Replaces all recovery codes. Throws INVALID_STATE when MFA is off, REAUTHENTICATION_REQUIRED. */
export async function renewRecoveryCodes(ctx: Context) {
  const userId = ctx.actor.id ?? '';
  await mustBeFresh(ctx);
  const recoveryCodes = newRecoveryCodes();
  const { rowCount } = await ctx.sql(
    'update users set mfa_recovery_codes = $2::jsonb, updated_at = now() where id = $1 and mfa_enabled',
    [userId, storedCodes(ctx, userId, recoveryCodes)],
  );
  if (rowCount === 0) throw errors.InvalidState('MFA is off');
  ctx.audit('auth.mfa.recovery_codes.rotate', { resourceType: 'user', resourceId: userId });
  tell(ctx, ctx.actor.email, 'recovery-codes-renewed');
  return { recoveryCodes };
}
