/** Phone numbers, verified by a code that is sent to them. */
import type { Context } from '#core';
import { CodeRefused } from '../../errors.ts';
import { callerOf } from '../access/bearers.ts';
import { tell } from '../accounts/notices.ts';
import { mustBeFresh, mustHaveShownFactor } from './demands.ts';
import { dropCodes, masked, requestCode, tryCode, useCode } from './sms-codes.ts';

/**
 * Sends a code to a new number; the old one stays in use until the code is confirmed.
 * Throws REAUTHENTICATION_REQUIRED, MFA_VERIFICATION_REQUIRED.
 */
export async function verifyPhone(ctx: Context, phoneNumber: string) {
  const caller = callerOf(ctx);
  await mustBeFresh(ctx);
  await mustHaveShownFactor(ctx, caller);
  await requestCode(ctx, { purpose: 'phone', boundTo: caller.userId, userId: caller.userId, phoneNumber });
  const phone = masked(phoneNumber);
  ctx.audit('auth.phone.verify', { resourceType: 'user', resourceId: caller.userId, details: { phone } });
  return { success: true, phone };
}

/** Throws INVALID_CODE, MFA_VERIFICATION_REQUIRED. */
export async function confirmPhone(ctx: Context, code: string) {
  const caller = callerOf(ctx);
  const { userId, email } = caller;
  const right = await ctx.asPlatform(async (own) => {
    await mustHaveShownFactor(own, caller);
    return tryCode(own, userId, { purpose: 'phone', boundTo: userId }, code);
  });
  if (!right || !(await useCode(ctx, right))) throw CodeRefused();
  await ctx.sql('update users set phone_number = $2, phone_verified = true, updated_at = now() where id = $1', [
    userId,
    right.phoneNumber,
  ]);
  await dropCodes(ctx, userId);
  const phone = masked(right.phoneNumber);
  ctx.audit('auth.phone.confirm', { resourceType: 'user', resourceId: userId, details: { phone } });
  tell(ctx, email, 'phone-changed');
  return { success: true, phone, phoneVerified: true };
}
