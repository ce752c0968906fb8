/** Refreshing a session: each use of the refresh token replaces it. */
import { type Context, errors } from '#core';
import { equalHash, sha256Hex } from '#core/auth';
import { CsrfRequired, RefreshInvalid } from '../../errors.ts';
import { type Membership, ORG_OPEN, ownerOf, PARTNER_OPEN, roleAt } from './places.ts';
import { IDLE_SECONDS, type Issued, issue, LONGEST_SECONDS, newRefreshToken } from './sessions.ts';

const TOKEN = /^(([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.[\w-]{43})(?:\.([0-9a-f]{64}))?$/;

interface Presented {
  cookie: string | undefined;
  body: string | undefined;
  csrf: string | undefined;
}

/**
 * Replaces the refresh token by compare-and-set: of two callers with the same token one wins. Any older token that we
 * issued for a live session was stolen or replayed and ends the session; a token that we did not issue changes nothing.
 * Needs a unit of work without an open transaction, because ending the session must be committed although the answer is an
 * error. Throws CSRF_REQUIRED, REFRESH_INVALID, PARTNER_INACTIVE, ORG_ACCESS_DENIED.
 */
export async function refreshSession(ctx: Context, presented: Presented): Promise<Issued> {
  const token = presented.body ?? presented.cookie;
  if (!token) throw RefreshInvalid();
  if (!presented.body && !presented.csrf) throw CsrfRequired();
  const [, plain, id, mac] = TOKEN.exec(token) ?? [];
  if (!plain || !id) throw RefreshInvalid();
  if (mac !== undefined && !equalHash(mac, ctx.services.mac('refresh-token', plain))) throw RefreshInvalid();
  const issued = await ctx.asPlatform((own) => replaceToken(own, id, token));
  if (issued) return issued;
  // An unsigned token cannot be told from a forged one.
  if (mac !== undefined) await ctx.asPlatform((own) => endReplayed(own, id));
  throw RefreshInvalid();
}

interface Refreshed extends Membership {
  userId: string;
  mfa: boolean;
  lastsSeconds: number;
  partnerOpen: boolean;
  orgOpen: boolean;
}

const REPLACE = `
update sessions s set token_hash = $3, last_used_at = now(), ip_address = $6, user_agent = $7,
  expires_at = least(now() + make_interval(secs => $4), s.created_at + make_interval(secs => $5))
from sessions old join users u on u.id = old.user_id and u.status = 'active'
  left join organizations o on o.id = old.org_id
  left join partners p on p.id = coalesce(old.partner_id, o.partner_id)
where old.id = $1 and s.id = old.id and s.token_hash = $2 and s.revoked_at is null and s.expires_at > now()
  and s.created_at > now() - make_interval(secs => $5)
returning u.id as "userId", s.mfa, s.scope, s.partner_id as "partnerId", s.org_id as "orgId",
  ceil(extract(epoch from s.expires_at - now()))::int as "lastsSeconds",
  s.scope = 'system' or (${PARTNER_OPEN}) as "partnerOpen",
  s.scope <> 'organization' or (${ORG_OPEN}) as "orgOpen",
  ${roleAt('s')} as "roleId"`;

/** Null when the token is not the session's current one, or the session has ended. */
async function replaceToken(ctx: Context, id: string, token: string): Promise<Issued | null> {
  const next = newRefreshToken(ctx, id);
  const { rows } = await ctx.sql<Refreshed>(
    REPLACE,
    [...[id, sha256Hex(token), sha256Hex(next), IDLE_SECONDS, LONGEST_SECONDS], ...[ctx.actor.ip, ctx.actor.userAgent]],
    'identity-refresh',
  );
  const [found] = rows;
  if (!found) return null;
  // Throwing rolls back: the session stays unchanged and works again once its tenant is active.
  if (!found.partnerOpen) throw errors.PartnerInactive();
  if (!found.orgOpen) throw errors.OrgAccessDenied();
  if (!found.roleId) throw RefreshInvalid();
  const { userId, mfa, lastsSeconds } = found;
  return issue(ctx, id, next, { userId, mfa, place: found, lastsSeconds });
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
