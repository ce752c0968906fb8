/** The life of an agent's tokens: issued at enrollment, rotated in two phases, suspended. */

import type { AgentRole, TokenSet } from '#agent-protocol';
import type { Context } from '#core';
import { newAgentToken, sha256Hex } from '#core/auth';
import { PendingRotationExpired, PendingTokenRequired, RotationConflict } from '../../errors.ts';
import type { CredentialState } from '../../models/credential.ts';
import { AGENT_NOTICE } from './token-cache.ts';

/** How long rotated tokens wait for their confirmation, and how long the replaced ones go on working. */
const PENDING = '1 hour';
const GRACE = '10 minutes';

/** Every process forgets what it knows of the device's tokens; this one before its caller has the answer. */
const tellChanged = (ctx: Context, deviceId: string): void => ctx.notify(AGENT_NOTICE, deviceId);

interface Owner {
  deviceId: string;
  orgId: string;
  agentId: string;
}

function newTokens(): { tokens: TokenSet; hashes: Record<AgentRole, string> } {
  const [agent, watchdog, helper] = [newAgentToken(), newAgentToken(), newAgentToken()];
  return {
    tokens: { authToken: agent, watchdogAuthToken: watchdog, helperAuthToken: helper },
    hashes: { agent: sha256Hex(agent), watchdog: sha256Hex(watchdog), helper: sha256Hex(helper) },
  };
}

async function store(
  ctx: Context,
  owner: Owner,
  hashes: Record<AgentRole, string>,
  state: CredentialState,
  lifetime: string | null,
): Promise<void> {
  // reach: the device of the agent that enrolls or rotates its tokens
  await ctx.sql(
    `insert into agent_credentials (token_hash, device_id, org_id, agent_id, role, state, expires_at)
     select hash, $1, $2, $3, role, $4, now() + $5::interval from unnest($6::text[], $7::text[]) t(hash, role)`,
    [
      owner.deviceId,
      owner.orgId,
      owner.agentId,
      state,
      lifetime,
      [hashes.agent, hashes.watchdog, hashes.helper],
      ['agent', 'watchdog', 'helper'],
    ],
    'agents-store-tokens',
  );
}

/** New tokens in place of all that the device had; the old ones stop working with the commit. */
export async function issueTokens(ctx: Context, owner: Owner): Promise<TokenSet> {
  const { tokens, hashes } = newTokens();
  await takeTurn(ctx, owner.deviceId);
  // reach: the device of the agent that enrolls
  await ctx.sql('delete from agent_credentials where device_id = $1', [owner.deviceId], 'agents-revoke');
  await store(ctx, owner, hashes, 'current', null);
  tellChanged(ctx, owner.deviceId);
  return tokens;
}

interface Held {
  role: AgentRole;
  state: CredentialState;
  agentId: string;
  orgId: string;
  expired: boolean;
  mine: boolean;
}

/**
 * Changes of one device's tokens take turns. Locking the rows would not do: each turn replaces some of them, so two that
 * wait may lock what is left in different orders.
 */
async function takeTurn(ctx: Context, deviceId: string): Promise<void> {
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`agent-tokens:${deviceId}`], 'agents-turn');
}

async function lockCredentials(ctx: Context, deviceId: string, token: string): Promise<Held[]> {
  await takeTurn(ctx, deviceId);
  // reach: the agent's own device, which its token names
  const { rows } = await ctx.sql<Held>(
    `select role, state, agent_id as "agentId", org_id as "orgId", coalesce(expires_at <= now(), false) as expired,
       token_hash = $2 as mine
     from agent_credentials where device_id = $1`,
    [deviceId, sha256Hex(token)],
    'agents-lock-tokens',
  );
  return rows;
}

/**
 * First phase: new tokens that wait one hour for their confirmation; asking again replaces them, so a lost answer is
 * harmless. Throws ROTATION_CONFLICT to a token that has been replaced meanwhile.
 */
export async function startRotation(ctx: Context, deviceId: string, token: string): Promise<TokenSet> {
  const held = await lockCredentials(ctx, deviceId, token);
  const mine = held.find((one) => one.mine);
  if (mine?.state !== 'current') throw RotationConflict();
  // reach: the agent's own device, which its token names
  await ctx.sql(`delete from agent_credentials where device_id = $1 and state = 'pending'`, [deviceId]);
  const { tokens, hashes } = newTokens();
  await store(ctx, { deviceId, orgId: mine.orgId, agentId: mine.agentId }, hashes, 'pending', PENDING);
  ctx.audit('agent.token.rotate', { resourceType: 'device', resourceId: deviceId, details: { step: 'start' } });
  tellChanged(ctx, deviceId);
  return tokens;
}

/**
 * Second phase, called with the new token: it becomes the current one, the old one keeps working for ten minutes.
 * Throws PENDING_TOKEN_REQUIRED to any other token and PENDING_ROTATION_EXPIRED after the hour.
 */
export async function confirmRotation(ctx: Context, deviceId: string, token: string): Promise<{ success: true }> {
  const held = await lockCredentials(ctx, deviceId, token);
  const mine = held.find((one) => one.mine);
  // Gone between the authentication and the lock: a newer rotation replaced it.
  if (!mine) throw RotationConflict();
  if (mine.state !== 'pending') throw PendingTokenRequired();
  if (mine.expired) throw PendingRotationExpired();
  // reach: the agent's own device, which its token names
  await ctx.sql(`delete from agent_credentials where device_id = $1 and state = 'previous'`, [deviceId]);
  // reach: the agent's own device, which its token names
  await ctx.sql(
    `update agent_credentials set state = 'previous', expires_at = now() + $2::interval
     where device_id = $1 and state = 'current'`,
    [deviceId, GRACE],
  );
  // reach: the agent's own device, which its token names
  await ctx.sql(
    `update agent_credentials set state = 'current', expires_at = null, created_at = now()
     where device_id = $1 and state = 'pending' and expires_at > now()`,
    [deviceId],
  );
  ctx.audit('agent.token.rotate', { resourceType: 'device', resourceId: deviceId, details: { step: 'confirm' } });
  tellChanged(ctx, deviceId);
  return { success: true };
}

/** Requests with a token of the device fail with RE_ENROLLMENT_REQUIRED until `restore`; false when it is suspended already. */
export async function suspendTokens(ctx: Context, deviceId: string, reason: string): Promise<boolean> {
  // reach: other modules have checked the device before they call this
  const { rowCount } = await ctx.sql(
    `update agent_credentials set suspended_at = now(), suspended_reason = left($2, 255)
     where device_id = $1 and suspended_at is null`,
    [deviceId, reason],
  );
  tellChanged(ctx, deviceId);
  return (rowCount ?? 0) > 0;
}

/** Makes suspended tokens valid again; returns false when none was suspended. */
export async function restoreTokens(ctx: Context, deviceId: string): Promise<boolean> {
  // reach: other modules have checked the device before they call this
  const { rowCount } = await ctx.sql(
    `update agent_credentials set suspended_at = null, suspended_reason = null
     where device_id = $1 and suspended_at is not null`,
    [deviceId],
  );
  tellChanged(ctx, deviceId);
  return (rowCount ?? 0) > 0;
}

/** Removes tokens whose time is over and tombstones older than a year. */
export async function cleanCredentials(ctx: Context): Promise<void> {
  // reach: retention by the platform role, for all organizations
  await ctx.sql('delete from agent_credentials where expires_at < now()');
  await ctx.sql(`delete from agent_tombstones where gone_at < now() - interval '1 year'`);
}
