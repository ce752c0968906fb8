/** Text messages as the second factor: turning them on for a verified number, and sending codes. */
import { type Context, errors } from '#core';
import { newRecoveryCodes, sha256Hex } from '#core/auth';
import { bearerOf, callerOf } from '../access/bearers.ts';
import { findChallenge } from '../access/mfa-challenges.ts';
import { tell } from '../accounts/notices.ts';
import { countMessage } from './attempts.ts';
import { mayUseSms, mustBeFresh } from './demands.ts';
import { storedCodes } from './recovery-codes.ts';
import { keepOnlyThisVerified } from './second-factors.ts';
import { masked, requestCode, type SmsPurpose } from './sms-codes.ts';

/** Throws INVALID_STATE while another method is active or no number is verified, SMS_NOT_ALLOWED, REAUTHENTICATION_REQUIRED. */
export async function enableSms(ctx: Context) {
  const caller = callerOf(ctx);
  const { userId } = caller;
  await mustBeFresh(ctx);
  await mayUseSms(ctx, userId);
  const recoveryCodes = newRecoveryCodes();
  const { rowCount } = await ctx.sql(
    `update users set mfa_enabled = true, mfa_method = 'sms', mfa_secret = null, mfa_last_step = null,
       mfa_recovery_codes = $2::jsonb, updated_at = now()
     where id = $1 and not mfa_enabled and phone_verified and phone_number is not null`,
    [userId, storedCodes(ctx, userId, recoveryCodes)],
  );
  if (rowCount === 0) throw errors.InvalidState(await whyNot(ctx, userId));
  await ctx.sql('delete from mfa_setups where user_id = $1', [userId]);
  await keepOnlyThisVerified(ctx, caller);
  ctx.audit('auth.mfa.setup', {
    resourceType: 'user',
    resourceId: userId,
    details: { method: 'sms', step: 'confirm' },
  });
  tell(ctx, caller.email, 'mfa-enabled');
  return { success: true, mfaEnabled: true, recoveryCodes };
}

async function whyNot(ctx: Context, userId: string): Promise<string> {
  const { rowCount } = await ctx.sql('select 1 from users where id = $1 and mfa_enabled', [userId]);
  return rowCount === 0 ? 'Verify a phone number first' : 'Another method is active; disable it first';
}

/**
 * Sends a code: with a temporary token to complete that login, otherwise to let the caller of the access token disable
 * MFA. Throws TEMP_TOKEN_INVALID, UNAUTHENTICATED, INVALID_STATE for another method, RATE_LIMITED.
 */
export async function sendFactorCode(ctx: Context, tempToken: string | undefined, authorization: string | undefined) {
  const asked = await ctx.asPlatform(async (own) => {
    const whose = await purposeOf(own, tempToken, authorization);
    return { ...whose, phoneNumber: await factorNumber(own, whose.userId) };
  });
  await countMessage(ctx, `sms-code:${asked.purpose}:${asked.boundTo}`, 3, 600);
  await countMessage(ctx, `sms-code-number:${asked.phoneNumber}`, 10, 3600);
  await requestCode(ctx, asked);
  return { success: true, phone: masked(asked.phoneNumber) };
}

async function purposeOf(
  ctx: Context,
  tempToken: string | undefined,
  authorization: string | undefined,
): Promise<SmsPurpose & { userId: string }> {
  if (tempToken) {
    const { id } = await findChallenge(ctx, tempToken);
    return { purpose: 'login', boundTo: sha256Hex(tempToken), userId: id };
  }
  const { userId, sessionId } = await bearerOf(ctx, authorization);
  return { purpose: 'disable', boundTo: sessionId, userId };
}

async function factorNumber(ctx: Context, userId: string): Promise<string> {
  const { rows } = await ctx.sql<{ phoneNumber: string }>(
    `select phone_number as "phoneNumber" from users
     where id = $1 and mfa_enabled and mfa_method = 'sms' and phone_verified and phone_number is not null`,
    [userId],
  );
  if (!rows[0]) throw errors.InvalidState('The second factor is not a text message');
  return rows[0].phoneNumber;
}
