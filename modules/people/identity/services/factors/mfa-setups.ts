/** Enrolling an authenticator app. */
import qrcode from 'qrcode';
import { type Context, errors } from '#core';
import { newRecoveryCodes, newTotpSecret, totpUri, verifyTotp } from '#core/auth';
import { CodeRefused } from '../../errors.ts';
import { type Bearer, bearerOf, callerOf } from '../access/bearers.ts';
import { ownerOf } from '../access/places.ts';
import { tell } from '../accounts/notices.ts';
import { countAttempt, forgetAttempts } from './attempts.ts';
import { secretPlace } from './authenticators.ts';
import { mustBeFresh, mustHaveShownFactor } from './demands.ts';
import { storedCodes } from './recovery-codes.ts';
import { keepOnlyThisVerified } from './second-factors.ts';
import { dropCodes } from './sms-codes.ts';

const SETUP_SECONDS = 600;
const ISSUER = 'Quartermaster';

const codesPlace = (userId: string) => ({ table: 'mfa_setups', column: 'recovery_codes', row: userId });

/**
 * Starts over on each call; waits ten minutes for the first code. When the method is text messages, the authenticator
 * replaces it. Throws INVALID_STATE when an authenticator is active, MFA_VERIFICATION_REQUIRED,
 * REAUTHENTICATION_REQUIRED.
 */
export async function beginSetup(ctx: Context) {
  const caller = callerOf(ctx);
  const { userId, email } = caller;
  const secret = newTotpSecret();
  const recoveryCodes = newRecoveryCodes();
  const otpAuthUrl = totpUri({ secret, account: email, issuer: ISSUER });
  const qrCodeDataUrl = await qrcode.toDataURL(otpAuthUrl);
  await mustBeFresh(ctx);
  await mustHaveShownFactor(ctx, caller);
  const { rowCount } = await ctx.sql(
    `insert into mfa_setups (user_id, secret, recovery_codes, expires_at)
     select id, $2, $3, now() + make_interval(secs => $4) from users
     where id = $1 and (not mfa_enabled or mfa_method = 'sms')
     on conflict (user_id) do update set secret = excluded.secret, recovery_codes = excluded.recovery_codes,
       expires_at = excluded.expires_at`,
    [
      ...[userId, ctx.services.seal.seal(secret, secretPlace(userId))],
      ...[ctx.services.seal.seal(JSON.stringify(recoveryCodes), codesPlace(userId)), SETUP_SECONDS],
    ],
  );
  if (rowCount === 0) throw errors.InvalidState('An authenticator is active already; disable it first');
  ctx.audit('auth.mfa.setup', { resourceType: 'user', resourceId: userId, details: { method: 'totp', step: 'begin' } });
  return { secret, otpAuthUrl, qrCodeDataUrl, recoveryCodes };
}

/** Confirms the caller's setup. Throws INVALID_STATE when none is pending, INVALID_CODE, RATE_LIMITED. */
export const confirmOwnSetup = (ctx: Context, code: string) => confirm(ctx, callerOf(ctx), code);

/** The public route accepts any access token of the user whose session is alive. Throws 401, else as above. */
export async function confirmSetupByBearer(ctx: Context, code: string, authorization: string | undefined) {
  const bearer = await ctx.asPlatform((own) => bearerOf(own, authorization));
  return confirm(ctx, bearer, code);
}

async function confirm(ctx: Context, who: Bearer, code: string) {
  const { userId } = who;
  await ctx.asPlatform(async (own) => {
    await mustHaveShownFactor(own, who);
    await countAttempt(own, userId);
  });
  const { rows } = await ctx.sql<{ secret: string; recoveryCodes: string }>(
    `delete from mfa_setups where user_id = $1 and expires_at > now()
     returning secret, recovery_codes as "recoveryCodes"`,
    [userId],
  );
  const [setup] = rows;
  if (!setup) throw errors.InvalidState('No authenticator setup is pending; start again');
  const { ok, step } = verifyTotp({ secret: ctx.services.seal.open(setup.secret, secretPlace(userId)), code });
  // Throwing undoes the deletion: the setup stays pending.
  if (!ok) throw CodeRefused();
  const recoveryCodes = JSON.parse(ctx.services.seal.open(setup.recoveryCodes, codesPlace(userId))) as string[];
  const { rowCount } = await ctx.sql(
    `update users set mfa_enabled = true, mfa_method = 'totp', mfa_secret = $2, mfa_recovery_codes = $3::jsonb,
       mfa_last_step = $4, updated_at = now()
     where id = $1 and (not mfa_enabled or mfa_method = 'sms')`,
    [userId, setup.secret, storedCodes(ctx, userId, recoveryCodes), step],
  );
  if (rowCount === 0) throw errors.InvalidState('An authenticator is active already');
  await keepOnlyThisVerified(ctx, who);
  await dropCodes(ctx, userId);
  await forgetAttempts(ctx, userId);
  ctx.audit('auth.mfa.setup', {
    ...ownerOf(who),
    resourceType: 'user',
    resourceId: userId,
    details: { method: 'totp', step: 'confirm' },
    actor: { kind: 'user', id: userId, email: who.email },
  });
  tell(ctx, who.email, 'mfa-enabled');
  return { success: true, mfaEnabled: true, recoveryCodes };
}
