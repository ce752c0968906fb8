/** Who is calling and may they: runs before the body is read. Refuses in one order: 401, inactive partner, missing MFA, missing permission. */

import { keyUse } from '../auth/api-key-use.ts';
import { sha256Hex } from '../auth/opaque-tokens.ts';
import type { Principal, Principals } from '../auth/principals.ts';
import type { AccessClaims } from '../auth/tokens.ts';
import type { Actor, Scope, Services } from '../context/index.ts';
import { NOBODY, NOWHERE } from '../context/index.ts';
import type { Access, AgentAuthenticator, AnyRoute } from '../contract/index.ts';
import type { Counters } from '../counters/counters.ts';
import type { Batches } from '../database/batches.ts';
import {
  Forbidden,
  MfaRequired,
  MfaVerificationRequired,
  OrgAccessDenied,
  PartnerInactive,
  RateLimited,
  ScopeRequired,
  Unauthenticated,
} from '../errors.ts';
import { holdsPermission, keyHoldsScope } from '../tenancy/permissions.ts';
import { rateLimitFields } from './conventions/limits.ts';

export interface AccessServices {
  principals: Principals;
  counters: Counters;
  batches: Batches;
  /** The session that a ticket stands for, which is used up by it; null where it opens nothing. */
  useTicket(ticket: string, purpose: string, ip: string): Promise<string | null>;
  verifyToken(token: string): Promise<AccessClaims>;
  agentAuthenticator(): AgentAuthenticator | undefined;
  mfaEnabled: boolean;
  services: Pick<Services, 'get' | 'counters'>;
}
export interface Caller {
  actor: Actor;
  scope: Scope;
  headers: Record<string, string>;
}
export interface Asking {
  route: AnyRoute;
  headers: Record<string, string | undefined>;
  params: Record<string, string>;
  ip: string;
  /** Of the query. */
  ticket?: string | undefined;
}
type Permitted = Extract<Access, { permission: string | null }>;

const bearer = (header: string | undefined): string | null =>
  /^Bearer ([\x21-\x7e]+)$/i.exec(header ?? '')?.[1] ?? null;

/** Resolves the caller and checks everything that the route's access requires; `seen` receives the caller before an error. */
export async function admit(services: AccessServices, asking: Asking, seen: (caller: Caller) => void): Promise<Caller> {
  const { access } = asking.route;
  const ends = { ip: asking.ip, userAgent: asking.headers['user-agent']?.slice(0, 1000) ?? null };
  if ('open' in access) return { actor: { ...NOBODY, ...ends }, scope: NOWHERE, headers: {} };
  if ('agent' in access) return admitAgent(services, asking, access, ends);
  if ('portal' in access) throw Unauthenticated();
  const key = asking.headers['x-api-key'];
  const useKey = key !== undefined && access.apiKey !== false;
  const found = useKey
    ? await admitKey(services, key)
    : ((await admitTicket(services, asking, access)) ?? (await admitUser(services, asking)));
  const caller: Caller = { ...found, actor: { ...found.principal.actor, ...ends }, scope: found.principal.scope };
  seen(caller);
  check(services, asking.route, access, found.principal);
  return caller;
}

/** Null where there is none, or where the route takes none. Person, right and session are those of now. */
async function admitTicket(
  { useTicket, principals }: AccessServices,
  asking: Asking,
  { ticket: purpose }: Permitted,
): Promise<{ principal: Principal; headers: Record<string, string> } | null> {
  const { ticket, ip, headers } = asking;
  if (!purpose || !ticket || headers.authorization !== undefined) return null;
  const sessionId = await useTicket(ticket, purpose, ip);
  if (!sessionId) throw Unauthenticated('The ticket is not valid, has expired or was used');
  const principal = await principals.bySession(sessionId);
  if (!principal) throw Unauthenticated('The session has ended');
  return { principal, headers: {} };
}

async function admitUser(
  services: AccessServices,
  asking: Asking,
): Promise<{ principal: Principal; headers: Record<string, string> }> {
  const token = bearer(asking.headers.authorization);
  if (!token) throw Unauthenticated();
  const claims = await services.verifyToken(token).catch(() => {
    throw Unauthenticated('The access token is not valid or has expired');
  });
  const principal = await services.principals.bySession(claims.sid);
  if (!principal || principal.actor.id !== claims.sub) throw Unauthenticated('The session has ended');
  return { principal, headers: {} };
}

async function admitKey(
  services: AccessServices,
  key: string,
): Promise<{ principal: Principal; headers: Record<string, string> }> {
  if (!key.startsWith('svc_')) throw Unauthenticated('Invalid API key');
  const keyHash = sha256Hex(key);
  const found = await services.principals.byKeyHash(keyHash);
  if (!found) throw Unauthenticated('Invalid API key');
  if (found.status === 'revoked') throw Unauthenticated('API key is revoked');
  if (found.status === 'expired' || found.expired) {
    if (found.status === 'active') void services.batches.add(keyUse, { keyHash, expired: true }).catch(() => undefined);
    throw Unauthenticated('API key is expired');
  }
  const use = () => {
    // Counting is statistics: a failure to count must not fail the request.
    void services.batches.add(keyUse, { keyHash, expired: false }).catch(() => undefined);
    return found;
  };
  // Without the counter store a valid key is let through; registration alone answers 503.
  const hit = await services.counters.hit(`api-key:${found.keyId}`, found.rateLimit, 3600).catch(() => null);
  if (!hit) return { principal: use(), headers: {} };
  const headers: Record<string, string> = {
    'x-ratelimit-limit': String(hit.limit),
    'x-ratelimit-remaining': String(hit.remaining),
    'x-ratelimit-reset': String(hit.resetAt),
    ...rateLimitFields('hour', hit, 3600),
  };
  if (!hit.allowed) {
    const retryAfter = Math.max(1, hit.retryAfterSeconds);
    throw RateLimited({ beside: { retryAfter }, headers: { ...headers, 'retry-after': String(retryAfter) } });
  }
  return { principal: use(), headers };
}

/** Checks what the route's access requires of the caller. Throws the error that the caller receives. */
export function check(services: AccessServices, route: AnyRoute, access: Permitted, principal: Principal): void {
  const { actor, scope } = principal;
  if (!access.whileSuspended) {
    if (!principal.partnerActive) throw PartnerInactive();
    if (!principal.orgActive) throw OrgAccessDenied();
  }
  if (services.mfaEnabled && actor.mustEnrollMfa && !access.beforeMfa) throw MfaRequired();
  if (access.scopes && !access.scopes.includes(scope.kind)) throw Forbidden();
  const mfa = access.mfa === true && services.mfaEnabled;
  if (access.permission !== null) {
    if (actor.kind === 'api_key') {
      const scope = access.keyScope ?? access.permission;
      if (!keyHoldsScope(actor.permissions, scope, access.mfa === true)) throw ScopeRequired();
    } else if (!holdsPermission(actor.permissions, access.permission, route.method)) throw Forbidden();
  }
  if (mfa && actor.kind === 'user' && !actor.mfa) throw MfaVerificationRequired();
}

async function admitAgent(
  services: AccessServices,
  asking: Asking,
  access: Extract<Access, { agent: unknown }>,
  ends: Pick<Actor, 'ip' | 'userAgent'>,
): Promise<Caller> {
  const token = bearer(asking.headers.authorization);
  const authenticator = services.agentAuthenticator();
  if (!token || !authenticator) throw Unauthenticated();
  const identity = await authenticator.authenticate({
    agentId: asking.params.id ?? '',
    token,
    route: access.agent,
    ip: asking.ip,
    services: services.services,
  });
  return {
    actor: { ...NOBODY, ...ends, kind: 'agent', id: identity.deviceId, name: identity.hostname },
    scope: {
      ...NOWHERE,
      kind: 'device',
      orgId: identity.orgId,
      orgIds: [identity.orgId],
      ownerPartnerId: identity.partnerId,
      deviceId: identity.deviceId,
    },
    headers: {},
  };
}
