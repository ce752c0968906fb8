/** The second factor regardless of its method: checking its codes, removing it. */
import type { Context } from '#core';
import { CodeRefused } from '../../errors.ts';
import { type Bearer, callerOf } from '../access/bearers.ts';
import { tell } from '../accounts/notices.ts';
import { countAttempt, forgetAttempts } from './attempts.ts';
import { acceptTotp } from './authenticators.ts';
import { mayBeWithoutMfa } from './demands.ts';
import { dropCodes, type SmsPurpose, tryCode, useCode } from './sms-codes.ts';

export type MfaMethod = 'totp' | 'sms';

/**
 * Consumes a code of the user's method. Call it before the first query of this unit of work: attempts are counted in a
 * transaction of their own.
 */
export async function acceptCode(
  ctx: Context,
  userId: string,
  method: MfaMethod,
  code: string,
  sms: SmsPurpose,
): Promise<boolean> {
  if (method === 'totp') return acceptTotp(ctx, userId, code);
  const right = await ctx.asPlatform((own) => tryCode(own, userId, sms, code));
  return right !== null && useCode(ctx, right);
}

/** Throws MFA_ENFORCED where an organization of the user requires MFA, INVALID_CODE, RATE_LIMITED. */
export async function disableMfa(ctx: Context, code: string) {
  const { userId, sessionId, email } = callerOf(ctx);
  const method = await ctx.asPlatform(async (own) => {
    await mayBeWithoutMfa(own, userId);
    await countAttempt(own, userId);
    const { rows } = await own.sql<{ method: MfaMethod | null }>(
      'select mfa_method as method from users where id = $1 and mfa_enabled',
      [userId],
    );
    return rows[0] && (rows[0].method ?? 'totp');
  });
  if (!method) throw CodeRefused();
  if (!(await acceptCode(ctx, userId, method, code, { purpose: 'disable', boundTo: sessionId }))) throw CodeRefused();
  await ctx.sql(
    `update users set mfa_enabled = false, mfa_method = null, mfa_secret = null, mfa_recovery_codes = null,
       mfa_last_step = null, phone_number = null, phone_verified = false, updated_at = now() where id = $1`,
    [userId],
  );
  // MFA that a session passed with the old secret no longer counts.
  await ctx.sql('update sessions set mfa = false where user_id = $1 and mfa', [userId]);
  await dropCodes(ctx, userId);
  await forgetAttempts(ctx, userId);
  ctx.audit('auth.mfa.disable', { resourceType: 'user', resourceId: userId, details: { method } });
  tell(ctx, email, 'mfa-disabled');
  return { success: true, mfaEnabled: false };
}

/** Only this session has shown the new method; the MFA of the others no longer counts. */
export async function keepOnlyThisVerified(ctx: Context, { userId, sessionId }: Pick<Bearer, 'userId' | 'sessionId'>) {
  await ctx.sql('update sessions set mfa = (id = $2) where user_id = $1 and mfa is distinct from (id = $2)', [
    userId,
    sessionId,
  ]);
}
