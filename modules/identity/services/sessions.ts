/** Sessions: one row a login, whose refresh token is replaced each time it is used (spec/1-identity, Authentication). */
import { randomUUID } from 'node:crypto';
import {
  type Context,
  defineError,
  errors,
  newOpaqueToken,
  type PageQuery,
  page,
  REFRESH_COOKIE,
  type ReplyOptions,
  type SortKey,
  sha256Hex,
} from '#core';
import { Session, showSession } from '../models/session.ts';
import { ownerOf, type Place } from './places.ts';

export const ACCESS_SECONDS = 900;
const SESSION_SECONDS = 30 * 86_400;
const COOKIE_PATH = '/api/v1/auth';
const TOKEN = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.[\w-]{43}$/;

const CsrfRequired = defineError('CSRF_REQUIRED', 403, 'The header x-svc-csrf is required');
const RefreshInvalid = defineError('REFRESH_INVALID', 401, 'The refresh token is not valid or has expired');

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

const newToken = (sessionId: string) => newOpaqueToken(`${sessionId}.`);

async function issue(
  ctx: Context,
  sessionId: string,
  refreshToken: string,
  who: { userId: string; mfa: boolean; place: Place },
): Promise<Issued> {
  const { userId, mfa, place } = who;
  const accessToken = await ctx.platform.signAccess(
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
    cookies: { [REFRESH_COOKIE]: { value: refreshToken, maxAgeSeconds: SESSION_SECONDS, path: COOKIE_PATH } },
  };
}

/** Opens a session in this transaction. @returns its first tokens and the cookie that carries the refresh token. */
export async function openSession(ctx: Context, who: { userId: string; mfa: boolean; place: Place }): Promise<Issued> {
  const id = randomUUID();
  const refreshToken = newToken(id);
  const { place, userId, mfa } = who;
  await ctx.sql(
    `insert into sessions (id, user_id, token_hash, mfa, scope, partner_id, org_id, ip_address, user_agent, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + make_interval(secs => $10))`,
    [
      ...[id, userId, sha256Hex(refreshToken), mfa, place.scope, place.partnerId, place.orgId],
      ...[ctx.actor.ip, ctx.actor.userAgent, SESSION_SECONDS],
    ],
  );
  return issue(ctx, id, refreshToken, who);
}

interface Presented {
  cookie: string | undefined;
  body: string | undefined;
  csrf: string | undefined;
}

/**
 * Replaces the refresh token by compare-and-set: of two callers with the same token one wins. Any other token of a living
 * session was stolen or replayed, and ends it. Needs work that holds no transaction of its own, since ending the session
 * must last although the answer is an error. Throws CSRF_REQUIRED, REFRESH_INVALID.
 */
export async function refreshSession(ctx: Context, presented: Presented): Promise<Issued> {
  const token = presented.body ?? presented.cookie;
  if (!token) throw RefreshInvalid();
  if (!presented.body && !presented.csrf) throw CsrfRequired();
  const [, id] = TOKEN.exec(token) ?? [];
  if (!id) throw RefreshInvalid();
  const issued = await ctx.platform.asPlatform(ctx, (own) => replaceToken(own, id, token));
  if (issued) return issued;
  await ctx.platform.asPlatform(ctx, (own) => endReplayed(own, id));
  throw RefreshInvalid();
}

/** Null when the token is not the session's newest, or the session has ended. */
async function replaceToken(ctx: Context, id: string, token: string): Promise<Issued | null> {
  const next = newToken(id);
  const { rows } = await ctx.sql<Place & { userId: string; mfa: boolean }>(
    `update sessions s set token_hash = $3, last_used_at = now(), expires_at = now() + make_interval(secs => $4),
       ip_address = $5, user_agent = $6
     from users u
     where s.id = $1 and s.token_hash = $2 and s.revoked_at is null and s.expires_at > now()
       and u.id = s.user_id and u.status = 'active'
     returning u.id as "userId", s.mfa, s.scope, s.partner_id as "partnerId", s.org_id as "orgId", coalesce(
       (select role_id from partner_users where user_id = u.id and partner_id = s.partner_id and s.scope = 'partner'),
       (select role_id from organization_users where user_id = u.id and org_id = s.org_id),
       (select role_id from system_users where user_id = u.id and s.scope = 'system')) as "roleId"`,
    [id, sha256Hex(token), sha256Hex(next), SESSION_SECONDS, ctx.actor.ip, ctx.actor.userAgent],
    'identity-refresh',
  );
  const [found] = rows;
  if (!found) return null;
  // Without an association there is nothing left to be let into; the roll-back leaves the session as it was.
  if (!found.roleId) throw RefreshInvalid();
  return issue(ctx, id, next, { userId: found.userId, mfa: found.mfa, place: found });
}

async function endReplayed(ctx: Context, sessionId: string): Promise<void> {
  const { rows } = await ctx.sql<{ userId: string; email: string; partnerId: string | null; orgId: string | null }>(
    `update sessions s set revoked_at = now() from users u
     where s.id = $1 and s.revoked_at is null and s.expires_at > now() and u.id = s.user_id and u.status = 'active'
     returning u.id as "userId", u.email, s.partner_id as "partnerId", s.org_id as "orgId"`,
    [sessionId],
  );
  const [ended] = rows;
  if (!ended) return;
  ctx.audit('auth.refresh.reuse', {
    ...ownerOf(ended),
    resourceType: 'session',
    resourceId: sessionId,
    result: 'failure',
    errorMessage: 'A refresh token was used a second time; the session was ended',
    actor: { kind: 'user', id: ended.userId, email: ended.email },
  });
}

/** Ends every session of a user, or all but one. Their access tokens are refused within a second. */
export async function endSessions(ctx: Context, userId: string, keep: string | null = null): Promise<number> {
  const { rowCount } = await ctx.sql(
    `update sessions set revoked_at = now() where user_id = $1 and revoked_at is null and id is distinct from $2::uuid`,
    [userId, keep],
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

/** The caller's own running sessions, the one used last first. */
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
