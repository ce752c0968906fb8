/** Sessions: one row for each login. */
import { randomUUID } from 'node:crypto';
import { type Context, errors, type PageQuery, page, REFRESH_COOKIE, type ReplyOptions, type SortKey } from '#core';
import { newOpaqueToken, sha256Hex } from '#core/auth';
import { InvalidCredentials } from '../../errors.ts';
import { Session, showSession } from '../../models/session.ts';
import type { Membership } from './places.ts';

export const ACCESS_SECONDS = 900;
/** Since the last use, and since the login regardless of use. */
export const IDLE_SECONDS = 30 * 86_400;
export const LONGEST_SECONDS = 90 * 86_400;
const COOKIE_PATH = '/api/v1/auth';

export interface Tokens {
  accessToken: string;
  expiresInSeconds: number;
}
export interface Issued {
  tokens: Tokens;
  refreshToken: string;
  cookies: NonNullable<ReplyOptions['cookies']>;
}

export const clearedCookie = { [REFRESH_COOKIE]: { value: null, path: COOKIE_PATH } };

/** Signed, so that knowing a session's id is not enough to make a token that would end it. */
export function newRefreshToken(ctx: Context, sessionId: string): string {
  const plain = newOpaqueToken(`${sessionId}.`);
  return `${plain}.${ctx.services.mac('refresh-token', plain)}`;
}

/** @param lastsSeconds until the session ends without further use */
export async function issue(
  ctx: Context,
  sessionId: string,
  refreshToken: string,
  who: { userId: string; mfa: boolean; place: Membership; lastsSeconds: number },
): Promise<Issued> {
  const { userId, mfa, place, lastsSeconds } = who;
  const accessToken = await ctx.services.signAccess(
    {
      sub: userId,
      sid: sessionId,
      scope: place.scope,
      ...(place.partnerId ? { partnerId: place.partnerId } : {}),
      ...(place.orgId ? { orgId: place.orgId } : {}),
      roleId: place.roleId,
      mfa,
    },
    ACCESS_SECONDS,
  );
  return {
    tokens: { accessToken, expiresInSeconds: ACCESS_SECONDS },
    refreshToken,
    cookies: { [REFRESH_COOKIE]: { value: refreshToken, maxAgeSeconds: lastsSeconds, path: COOKIE_PATH } },
  };
}

/**
 * Opens a session in this transaction and counts it as a login.
 * @returns its first tokens and the cookie with the refresh token.
 * Throws INVALID_CREDENTIALS for a user who is not active.
 */
export async function openSession(
  ctx: Context,
  who: { userId: string; mfa: boolean; place: Membership },
): Promise<Issued> {
  const id = randomUUID();
  const refreshToken = newRefreshToken(ctx, id);
  const { place, userId, mfa } = who;
  const { rowCount } = await ctx.sql(
    `with entered as (update users set last_login_at = now() where id = $2 and status = 'active' returning id)
     insert into sessions (id, user_id, token_hash, mfa, scope, partner_id, org_id, ip_address, user_agent, expires_at)
     select $1, entered.id, $3, $4, $5, $6, $7, $8, $9, now() + make_interval(secs => $10) from entered`,
    [
      ...[id, userId, sha256Hex(refreshToken), mfa, place.scope, place.partnerId, place.orgId],
      ...[ctx.actor.ip, ctx.actor.userAgent, IDLE_SECONDS],
    ],
    'identity-open-session',
  );
  // The user may have been suspended while the password was checked.
  if (rowCount === 0) throw InvalidCredentials();
  return issue(ctx, id, refreshToken, { ...who, lastsSeconds: IDLE_SECONDS });
}

/**
 * Ends every session of a user, or only those in one place. Their access tokens are refused within a second.
 * Needs the platform's role.
 */
export async function endSessions(
  ctx: Context,
  userId: string,
  place: { partnerId: string | null; orgId: string | null } | null = null,
): Promise<number> {
  const { rowCount } = await ctx.sql(
    `update sessions set revoked_at = now() where user_id = $1 and revoked_at is null
       and ($2 or (partner_id is not distinct from $3::uuid and org_id is not distinct from $4::uuid))`,
    [userId, place === null, place?.partnerId ?? null, place?.orgId ?? null],
  );
  return rowCount ?? 0;
}

export async function logout(ctx: Context): Promise<void> {
  const { id, email } = ctx.actor;
  const ended = await endSessions(ctx, id ?? '');
  ctx.audit('user.logout', {
    resourceType: 'user',
    resourceId: id,
    resourceName: email,
    details: { sessions: ended },
  });
}

const ORDER = {
  name: 'sessions-newest',
  keys: [
    { expression: 'sessions.last_used_at', direction: 'desc', type: 'timestamptz' },
    { expression: 'sessions.id', direction: 'desc', type: 'uuid' },
  ] satisfies SortKey[],
};

/** The caller's active sessions, most recently used first. */
export function listSessions(ctx: Context, query: PageQuery) {
  const mine = Session.in(ctx)
    .where({ userId: ctx.actor.id })
    .whereNull('revokedAt')
    .whereRaw('sessions.expires_at > now()');
  return page(mine, query, ORDER, (row) => showSession(row, ctx.actor.sessionId));
}

export async function endSession(ctx: Context, id: string): Promise<{ success: true }> {
  const { rowCount } = await ctx.sql(
    'update sessions set revoked_at = now() where id = $1 and user_id = $2 and revoked_at is null and expires_at > now()',
    [id, ctx.actor.id],
  );
  if (rowCount === 0) throw errors.NotFound('Session not found');
  ctx.audit('auth.session.revoke', { resourceType: 'session', resourceId: id });
  return { success: true };
}
