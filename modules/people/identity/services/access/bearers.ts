/** The user behind an access token, for the public routes that read one themselves. */
import { type Context, errors } from '#core';
import { ORG_OPEN, PARTNER_OPEN } from './places.ts';

/** A signed-in user and the session of the request. */
export interface Bearer {
  userId: string;
  email: string;
  sessionId: string;
  mfa: boolean;
  partnerId: string | null;
  orgId: string | null;
}

/** The same for a caller whom core has authenticated. */
export function callerOf({ actor, scope }: Context): Bearer {
  const { id: userId, email, sessionId, mfa } = actor;
  if (!userId || !sessionId) throw errors.Unauthenticated();
  return { userId, email: email ?? '', sessionId, mfa, partnerId: scope.partnerId, orgId: scope.orgId };
}

const BY_SESSION = `
select u.id as "userId", u.email, s.id as "sessionId", s.mfa, s.partner_id as "partnerId", s.org_id as "orgId",
  s.scope = 'system' or (${PARTNER_OPEN}) as "partnerOpen", s.scope <> 'organization' or (${ORG_OPEN}) as "orgOpen"
from sessions s join users u on u.id = s.user_id and u.status = 'active'
  left join organizations o on o.id = s.org_id
  left join partners p on p.id = coalesce(s.partner_id, o.partner_id)
where s.id = $1 and u.id = $2 and s.revoked_at is null and s.expires_at > now()`;

interface OfSession extends Bearer {
  partnerOpen: boolean;
  orgOpen: boolean;
}

/** For what concerns the account alone, whatever state its tenant is in. Needs the platform's role. Throws UNAUTHENTICATED. */
export async function sessionOf(ctx: Context, authorization: string | undefined): Promise<OfSession> {
  const token = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
  const { sid, sub } = await ctx.services.verifyAccess(token).catch(() => {
    throw errors.Unauthenticated('A temporary token or an access token is needed');
  });
  const { rows } = await ctx.sql<OfSession>(BY_SESSION, [sid, sub]);
  const [found] = rows;
  if (!found) throw errors.Unauthenticated('The session has ended');
  return found;
}

/** Needs the platform's role. Throws UNAUTHENTICATED, PARTNER_INACTIVE, ORG_ACCESS_DENIED, as authenticated routes do. */
export async function bearerOf(ctx: Context, authorization: string | undefined): Promise<Bearer> {
  const { partnerOpen, orgOpen, ...bearer } = await sessionOf(ctx, authorization);
  if (!partnerOpen) throw errors.PartnerInactive();
  if (!orgOpen) throw errors.OrgAccessDenied();
  return bearer;
}
