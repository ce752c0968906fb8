/** The short-lived code with which the application fetches the tokens of a finished login. */
import { type Context, type Reply, reply } from '#core';
import { newOpaqueToken, sha256Hex } from '#core/auth';
import { CodeInvalid, LoginRefused } from '../errors.ts';
import { mayActFor } from './identities.ts';
import { servingProvider } from './serving.ts';

const CODE_SECONDS = 60;

export interface Login {
  providerId: string;
  userId: string;
  orgId: string;
  browserHash: string;
  /** Whether the provider asked for a second factor. */
  mfa: boolean;
}

/** Needs the platform role. */
export async function issueCode(ctx: Context, login: Login): Promise<string> {
  const code = newOpaqueToken('');
  await ctx.sql(
    `insert into sso_codes (code_hash, provider_id, user_id, org_id, browser_hash, mfa, expires_at)
     values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))`,
    [...[sha256Hex(code), login.providerId, login.userId, login.orgId, login.browserHash, login.mfa], CODE_SECONDS],
  );
  return code;
}

interface Taken extends Login {
  email: string;
  mfaEnabled: boolean;
}

/** Of two callers with one code one wins. Null for a code that is unknown, used, expired, or from another browser. */
async function takeCode(ctx: Context, code: string, browser: string | null): Promise<Taken | null> {
  const { rows } = await ctx.sql<Taken>(
    `update sso_codes c set used_at = now() from users u
     where c.code_hash = $1 and c.browser_hash = $2 and c.used_at is null and c.expires_at > now() and u.id = c.user_id
     returning c.provider_id as "providerId", c.user_id as "userId", c.org_id as "orgId", c.mfa,
       c.browser_hash as "browserHash", u.email, u.mfa_enabled as "mfaEnabled"`,
    [sha256Hex(code), sha256Hex(browser ?? '')],
  );
  return rows[0] ?? null;
}

/**
 * Exchanges the code for a session, or for the demand for the user's own second factor, by the state now and not when the
 * code was made. Throws SSO_CODE_INVALID. Needs the platform role.
 */
export async function exchange(ctx: Context, code: string, browser: string | null): Promise<Reply> {
  const login = await takeCode(ctx, code, browser);
  if (!login) {
    await recordMisuse(ctx, code);
    throw CodeInvalid();
  }
  const identity = ctx.use('identity');
  const places = await identity.placesOf(login.userId);
  const place = places.find(({ orgId }) => orgId === login.orgId);
  const serving = await servingProvider(ctx, { id: login.providerId });
  if (!place || !serving) throw CodeInvalid();
  const { body, issued } = await identity.logIn(login.userId, place, {
    mfa: await shownFactor(ctx, login),
    via: 'sso',
  });
  return reply(body, issued ? { cookies: issued.cookies } : {});
}

/** Whether the second factor of the provider is accepted. */
async function shownFactor(ctx: Context, { orgId, userId, email, mfaEnabled, mfa }: Taken): Promise<boolean> {
  const word = await mayActFor(ctx, orgId, { id: userId, email, mfaEnabled }).catch((error: unknown) => {
    throw error instanceof LoginRefused ? CodeInvalid() : error;
  });
  return mfa && word === 'alone';
}

/** Records a code that is used again, too late or by another browser in the audit trail of its user. */
async function recordMisuse(ctx: Context, code: string): Promise<void> {
  const { rows } = await ctx.sql<{ userId: string; email: string; orgId: string; used: boolean }>(
    `select u.id as "userId", u.email, c.org_id as "orgId", c.used_at is not null as used
     from sso_codes c join users u on u.id = c.user_id where c.code_hash = $1`,
    [sha256Hex(code)],
  );
  const [known] = rows;
  if (!known) return;
  const { userId: id, email, orgId, used } = known;
  ctx.auditAttempt('user.login.failed', {
    orgId,
    resourceType: 'user',
    resourceId: id,
    resourceName: email,
    result: 'failure',
    errorMessage: used ? 'an SSO code was shown a second time' : 'an SSO code came too late or from another browser',
    actor: { kind: 'user', id, email },
  });
}
