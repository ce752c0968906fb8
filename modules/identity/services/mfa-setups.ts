/** Enrolling an authenticator app, and taking it off again (spec/1-identity, Login and MFA flow). */
import qrcode from 'qrcode';
import {
  type Context,
  defineError,
  errors,
  hashRecoveryCode,
  newRecoveryCodes,
  newTotpSecret,
  sha256Hex,
  totpUri,
  verifyTotp,
} from '#core';
import { ownerOf } from './places.ts';
import { acceptTotp, countAttempt, forgetAttempts, secretPlace } from './second-factors.ts';

const SETUP_SECONDS = 600;
const ISSUER = 'Quartermaster';

export const CodeRefused = defineError('INVALID_CODE', 400, 'The code is not valid');
const MfaEnforced = defineError('MFA_ENFORCED', 403, 'The organization requires MFA');

const codesPlace = (userId: string) => ({ table: 'mfa_setups', column: 'recovery_codes', row: userId });

/** Who confirms, and for whose audit trail. */
interface Confirming {
  userId: string;
  email: string;
  sessionId: string;
  partnerId: string | null;
  orgId: string | null;
}

/** Begins anew each time it is asked; waits ten minutes for its first code. Throws INVALID_STATE when MFA is on. */
export async function beginSetup(ctx: Context, authorization: string | undefined) {
  const { id, email, sessionId } = ctx.actor;
  const userId = id ?? '';
  const secret = newTotpSecret();
  const recoveryCodes = newRecoveryCodes();
  const otpAuthUrl = totpUri({ secret, account: email ?? '', issuer: ISSUER });
  const qrCodeDataUrl = await qrcode.toDataURL(otpAuthUrl);
  const { rowCount } = await ctx.sql(
    `insert into mfa_setups (user_id, session_id, bearer_hash, secret, recovery_codes, expires_at)
     select id, $2, $3, $4, $5, now() + make_interval(secs => $6) from users where id = $1 and not mfa_enabled
     on conflict (user_id) do update set session_id = excluded.session_id, bearer_hash = excluded.bearer_hash,
       secret = excluded.secret, recovery_codes = excluded.recovery_codes, expires_at = excluded.expires_at`,
    [
      ...[userId, sessionId, sha256Hex(bearer(authorization)), ctx.platform.seal.seal(secret, secretPlace(userId))],
      ...[ctx.platform.seal.seal(JSON.stringify(recoveryCodes), codesPlace(userId)), SETUP_SECONDS],
    ],
  );
  if (rowCount === 0) throw errors.InvalidState('MFA is on already; disable it first');
  ctx.audit('auth.mfa.setup', { resourceType: 'user', resourceId: userId, details: { method: 'totp', step: 'begin' } });
  return { secret, otpAuthUrl, qrCodeDataUrl, recoveryCodes };
}

/** The caller's own setup, confirmed. Throws INVALID_STATE when none waits, INVALID_CODE, RATE_LIMITED. */
export async function confirmOwnSetup(ctx: Context, code: string) {
  const { actor, scope } = ctx;
  const { id: userId, email, sessionId } = actor;
  if (!userId || !sessionId) throw errors.Unauthenticated();
  return confirm(ctx, { userId, email: email ?? '', sessionId, partnerId: scope.partnerId, orgId: scope.orgId }, code);
}

/**
 * On the public path the access token itself is looked up: it is known if it is the one that began the setup.
 * Throws 401 for any other token, else as confirmOwnSetup().
 */
export async function confirmSetupByBearer(ctx: Context, code: string, authorization: string | undefined) {
  const token = bearer(authorization);
  const confirming = await ctx.platform.asPlatform(ctx, async (own) => {
    const { rows } = await own.sql<Confirming>(
      `select u.id as "userId", u.email, s.id as "sessionId", s.partner_id as "partnerId", s.org_id as "orgId"
       from mfa_setups m
       join sessions s on s.id = m.session_id and s.revoked_at is null and s.expires_at > now()
       join users u on u.id = m.user_id and u.status = 'active'
       where m.bearer_hash = $1`,
      [sha256Hex(token)],
    );
    return rows[0];
  });
  if (!confirming || endOf(token) <= Date.now()) throw errors.Unauthenticated('Log in, or use POST /auth/mfa/enable');
  return confirm(ctx, confirming, code);
}

async function confirm(ctx: Context, who: Confirming, code: string) {
  const { userId, sessionId } = who;
  await ctx.platform.asPlatform(ctx, (own) => countAttempt(own, userId));
  const { rows } = await ctx.sql<{ secret: string; recoveryCodes: string }>(
    `delete from mfa_setups where user_id = $1 and expires_at > now()
     returning secret, recovery_codes as "recoveryCodes"`,
    [userId],
  );
  const [setup] = rows;
  if (!setup) throw errors.InvalidState('No authenticator waits to be confirmed; begin again');
  const { ok, step } = verifyTotp({ secret: ctx.platform.seal.open(setup.secret, secretPlace(userId)), code });
  // Throwing undoes the deletion: the setup goes on waiting for a right code.
  if (!ok) throw CodeRefused();
  const recoveryCodes = JSON.parse(ctx.platform.seal.open(setup.recoveryCodes, codesPlace(userId))) as string[];
  const { rowCount } = await ctx.sql(
    `update users set mfa_enabled = true, mfa_method = 'totp', mfa_secret = $2, mfa_recovery_codes = $3::jsonb,
       mfa_last_step = $4, updated_at = now()
     where id = $1 and not mfa_enabled`,
    [userId, setup.secret, hashed(recoveryCodes), step],
  );
  if (rowCount === 0) throw errors.InvalidState('MFA is on already');
  // This session has just shown the second factor; it need not log in again.
  await ctx.sql('update sessions set mfa = true where id = $1', [sessionId]);
  await forgetAttempts(ctx, userId);
  ctx.audit('auth.mfa.setup', {
    ...ownerOf(who),
    resourceType: 'user',
    resourceId: userId,
    details: { method: 'totp', step: 'confirm' },
    actor: { kind: 'user', id: userId, email: who.email },
  });
  return { success: true, mfaEnabled: true, recoveryCodes };
}

/** Throws MFA_ENFORCED where an organization of the user requires MFA, INVALID_CODE, RATE_LIMITED. */
export async function disableMfa(ctx: Context, code: string) {
  const userId = ctx.actor.id ?? '';
  await ctx.platform.asPlatform(ctx, async (own) => {
    const { rowCount } = await own.sql(
      `select 1 from organization_users ou join organizations o on o.id = ou.org_id and o.deleted_at is null
       where ou.user_id = $1 and o.settings -> 'security' ->> 'requireMfa' = 'true'`,
      [userId],
    );
    if (rowCount !== 0) throw MfaEnforced();
    await countAttempt(own, userId);
  });
  if (!(await acceptTotp(ctx, userId, code))) throw CodeRefused();
  await ctx.sql(
    `update users set mfa_enabled = false, mfa_method = null, mfa_secret = null, mfa_recovery_codes = null,
       phone_number = null, phone_verified = false, updated_at = now() where id = $1`,
    [userId],
  );
  // What a session proved with the old secret is worth nothing without it.
  await ctx.sql('update sessions set mfa = false where user_id = $1', [userId]);
  await forgetAttempts(ctx, userId);
  ctx.audit('auth.mfa.disable', { resourceType: 'user', resourceId: userId, details: { method: 'totp' } });
  return { success: true, mfaEnabled: false };
}

/** Replaces all recovery codes. Throws INVALID_STATE when MFA is off. */
export async function renewRecoveryCodes(ctx: Context) {
  const userId = ctx.actor.id ?? '';
  const recoveryCodes = newRecoveryCodes();
  const { rowCount } = await ctx.sql(
    'update users set mfa_recovery_codes = $2::jsonb, updated_at = now() where id = $1 and mfa_enabled',
    [userId, hashed(recoveryCodes)],
  );
  if (rowCount === 0) throw errors.InvalidState('MFA is off');
  ctx.audit('auth.mfa.recovery_codes.rotate', { resourceType: 'user', resourceId: userId });
  return { recoveryCodes };
}

const hashed = (codes: string[]) => JSON.stringify(codes.map(hashRecoveryCode));
const bearer = (authorization: string | undefined) => /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1] ?? '';

/** When an access token ends, in milliseconds. Only for a token known to be ours, since nothing is verified here. */
function endOf(token: string): number {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as { exp?: number };
  return (claims.exp ?? 0) * 1000;
}
