/** Authenticates agents by their bearer token, and checks what the device may call in its state. */
import {
  type AgentAccess,
  type AgentIdentity,
  type AgentRequest,
  type Context,
  errors,
  type Input,
  type StartServices,
  sourceOf,
} from '#core';
import { sha256Hex } from '#core/auth';
import { DeviceDecommissioned, ReEnrollmentRequired, TenantInactive } from '../../errors.ts';
import type { Credential } from '../../models/credential.ts';
import { countFailures } from './failures.ts';
import { ORG_SHARES } from './org-shares.ts';
import { AGENT_NOTICE, type KnownToken, TOKEN_CACHE, TokenCache, type TokenLookup, tokenCache } from './token-cache.ts';

declare module '#core/contract' {
  interface AgentAccess {
    /** The route accepts a token that waits for its confirmation; all others reject it. */
    pending?: true;
    /** The route may use the share of the organization's rate limit that other calls may not use. */
    vital?: true;
  }
}

/** Starts the cache. A change of a device or its tokens drops the entries of that device. */
export function startTokenCache({ asPlatform, onNotice, onNoticesLost }: StartServices): TokenCache {
  const cache = new TokenCache((hashes) => asPlatform((ctx) => readTokens(ctx, hashes)));
  onNotice(AGENT_NOTICE, (deviceId) => cache.forgetDevice(deviceId));
  onNotice('devices.changed', (deviceId) => cache.forgetDevice(deviceId));
  onNoticesLost(() => cache.clear());
  return cache;
}

async function readTokens(ctx: Context, hashes: readonly string[]): Promise<Map<string, TokenLookup>> {
  // reach: found by the secret token; the caller is not known before
  const { rows } = await ctx.sql<Credential & { hash: string }>(
    `select token_hash as hash, device_id as "deviceId", org_id as "orgId", agent_id as "agentId", role, state,
       expires_at as "expiresAt", suspended_at is not null as suspended, created_at as "createdAt"
     from agent_credentials where token_hash = any($1)`,
    [hashes],
    'agents-read-tokens',
  );
  const found = new Map<string, TokenLookup>();
  const devices =
    rows.length > 0 ? await ctx.use('devices').identify([...new Set(rows.map((row) => row.deviceId))]) : [];
  const byId = new Map(devices.map((device) => [device.deviceId, device]));
  for (const { hash, ...credential } of rows) {
    const device = byId.get(credential.deviceId);
    if (!device) continue;
    const { orgId, siteId, partnerId, hostname, lifecycle } = device;
    const tenantActive = device.orgActive && device.partnerActive;
    found.set(hash, {
      kind: 'known',
      token: { ...credential, orgId, siteId, partnerId, hostname, lifecycle, tenantActive },
    });
  }
  const missing = hashes.filter((hash) => !found.has(hash));
  if (missing.length === 0) return found;
  const tombstones = await ctx.sql<{ hash: string; agentId: string }>(
    'select token_hash as hash, agent_id as "agentId" from agent_tombstones where token_hash = any($1)',
    [missing],
    'agents-read-tombstones',
  );
  for (const { hash, agentId } of tombstones.rows) found.set(hash, { kind: 'gone', agentId });
  return found;
}

/** Whether the route depends on the state of device and tenant. A heartbeat does not: its own statement returns the state. */
const needsState = (route: AgentAccess): boolean =>
  !(route.suspended && route.also?.includes('quarantined') && route.also.includes('decommissioned'));

/** Wrong tokens per minute, device and address, after which the database is no longer queried. */
const MAX_FAILURES = 30;

/** Throws the first error: of the token (401, 410), of the state of device and tenant (403), of the rate limit (429). */
export async function authenticate(request: AgentRequest): Promise<AgentIdentity> {
  const { agentId, token, route, services, ip } = request;
  const cache = services.get(TOKEN_CACHE);
  const hash = sha256Hex(token);
  const failures = countFailures(services.counters, `agent-token:${agentId}:${sourceOf(ip)}`, MAX_FAILURES);
  if (!cache.peek(hash)) await failures.check();
  const found = await cache.find(hash, needsState(route));
  if (found.kind === 'gone' && found.agentId === agentId) throw errors.DeviceGone();
  if (found.kind !== 'known' || found.token.agentId !== agentId) {
    await failures.add();
    throw errors.Unauthenticated();
  }
  const { token: known } = found;
  mustBeAdmitted(known, route);
  const shares = services.get(ORG_SHARES);
  await shares.spend(services.counters, known.orgId, route.vital === true);
  const { deviceId, orgId, siteId, partnerId, role, hostname } = known;
  return { deviceId, agentId, orgId, siteId, partnerId, role, hostname };
}

function mustBeAdmitted(known: KnownToken, route: AgentAccess): void {
  mustBeUsable(known, route);
  mustBeOpen(known, route);
}

/** Checks the token of an open socket again, and throws the error that a new request would get. */
export async function readmit(cache: TokenCache, hash: string, route: AgentAccess): Promise<KnownToken> {
  const found = await cache.find(hash, true);
  if (found.kind === 'gone') throw errors.DeviceGone();
  if (found.kind !== 'known') throw errors.Unauthenticated();
  mustBeAdmitted(found.token, route);
  return found.token;
}

function mustBeUsable({ state, expiresAt, suspended, role }: KnownToken, route: AgentAccess): void {
  if (suspended) throw ReEnrollmentRequired();
  if (state === 'pending') {
    // The confirmation itself checks whether the token has expired.
    if (!route.pending) throw errors.Unauthenticated();
  } else if (expiresAt && expiresAt.getTime() <= Date.now()) throw errors.Unauthenticated();
  if (!route.roles.includes(role)) throw errors.Forbidden(`A ${role} token may not call this`);
}

function mustBeOpen({ lifecycle, tenantActive }: KnownToken, route: AgentAccess): void {
  if (lifecycle === 'quarantined' && !route.also?.includes('quarantined')) throw errors.DeviceQuarantined();
  if (lifecycle === 'decommissioned' && !route.also?.includes('decommissioned')) throw DeviceDecommissioned();
  if (!tenantActive && !route.suspended) throw TenantInactive();
}

/** The bearer token of a request that has been authenticated with it. */
export function bearerOf({ headers }: Pick<Input, 'headers'>): string {
  return (headers.authorization ?? '').slice('Bearer '.length);
}

/** The token of the caller; read again in the rare case that the cache dropped it since the authentication. */
export const callerToken = (ctx: Context, input: Pick<Input, 'headers'>): Promise<KnownToken> =>
  tokenByHash(ctx, sha256Hex(bearerOf(input)));

export async function tokenByHash(ctx: Context, hash: string): Promise<KnownToken> {
  const cache = tokenCache(ctx);
  const known = cache.peek(hash);
  if (known) return known;
  const found = await cache.find(hash, false);
  if (found.kind !== 'known') throw errors.Unauthenticated();
  return found.token;
}
