/** Tokens of agents: issued at enrollment, rotated in two phases, suspended and restored. */

import type { AgentRole, TokenSet } from '#agent-protocol';
import type { Context } from '#core';
import { newAgentToken, sha256Hex } from '#core/auth';
import { PendingRotationExpired, PendingTokenRequired, RotationConflict } from '../../errors.ts';
import type { CredentialState } from '../../models/credential.ts';
import { AGENT_NOTICE } from './token-cache.ts';

/** How long new tokens of a rotation wait for their confirmation, and how long the replaced ones remain valid. */
const PENDING_LIFETIME = '1 hour';
const PREVIOUS_LIFETIME = '10 minutes';

/** All processes drop the tokens of the device from their caches; this one does so before the answer is sent. */
const tellChanged = (ctx: Context, deviceId: string): void => ctx.notify(AGENT_NOTICE, deviceId);

interface Owner {
  deviceId: string;
  orgId: string;
  agentId: string;
}

function newTokens(): { tokens: TokenSet; hashes: Record<AgentRole, string> } {
  const [agent, watchdog] = [newAgentToken(), newAgentToken()];
  return {
    tokens: { authToken: agent, watchdogAuthToken: watchdog },
    hashes: { agent: sha256Hex(agent), watchdog: sha256Hex(watchdog) },
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
      [hashes.agent, hashes.watchdog],
      ['agent', 'watchdog'],
    ],
    'agents-store-tokens',
  );
}

/** Replaces all tokens of the device; the old ones stop working with the commit. */
export async function issueTokens(ctx: Context, owner: Owner): Promise<TokenSet> {
  const { tokens, hashes } = newTokens();
  await takeTurn(ctx, owner.deviceId);
  // reach: the device of the agent that enrolls
  await ctx.sql('delete from agent_credentials where device_id = $1', [owner.deviceId], 'agents-revoke');
  await store(ctx, owner, hashes, 'current', null);
  tellChanged(ctx, owner.deviceId);
  return tokens;
}

interface HeldCredential {
  role: AgentRole;
  state: CredentialState;
  agentId: string;
  orgId: string;
  expired: boolean;
  mine: boolean;
}

/**
 * Serializes changes of the tokens of a device. Row locks would not do: each change replaces some of the rows, so two waiting
 * transactions could lock the remaining ones in different order.
 */
async function takeTurn(ctx: Context, deviceId: string): Promise<void> {
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`agent-tokens:${deviceId}`], 'agents-turn');
}

async function lockCredentials(ctx: Context, deviceId: string, token: string): Promise<HeldCredential[]> {
  await takeTurn(ctx, deviceId);
  // reach: the agent's own device, which its token names
  const { rows } = await ctx.sql<HeldCredential>(
    `select role, state, agent_id as "agentId", org_id as "orgId", coalesce(expires_at <= now(), false) as expired,
       token_hash = $2 as mine
     from agent_credentials where device_id = $1`,
    [deviceId, sha256Hex(token)],
    'agents-lock-tokens',
  );
  return rows;
}

/**
 * First phase: new tokens that wait one hour for their confirmation. A repeat replaces them, so a lost answer does no harm.
 * Throws ROTATION_CONFLICT for a token that is not the current one.
 */
export async function startRotation(ctx: Context, deviceId: string, token: string): Promise<TokenSet> {
  const held = await lockCredentials(ctx, deviceId, token);
  const mine = held.find((one) => one.mine);
  if (mine?.state !== 'current') throw RotationConflict();
  // reach: the agent's own device, which its token names
  await ctx.sql(`delete from agent_credentials where device_id = $1 and state = 'pending'`, [deviceId]);
  const { tokens, hashes } = newTokens();
  await store(ctx, { deviceId, orgId: mine.orgId, agentId: mine.agentId }, hashes, 'pending', PENDING_LIFETIME);
  ctx.audit('agent.token.rotate', { resourceType: 'device', resourceId: deviceId, details: { step: 'start' } });
  tellChanged(ctx, deviceId);
  return tokens;
}

/**
 * Second phase, called with the new token: it becomes the current one, and the old one remains valid for ten minutes.
 * Throws PENDING_TOKEN_REQUIRED for any other token, and PENDING_ROTATION_EXPIRED after the hour.
 */
export async function confirmRotation(ctx: Context, deviceId: string, token: string): Promise<{ success: true }> {
  const held = await lockCredentials(ctx, deviceId, token);
  const mine = held.find((one) => one.mine);
  // A newer rotation replaced it between the authentication and the lock.
  if (!mine) throw RotationConflict();
  if (mine.state !== 'pending') throw PendingTokenRequired();
  if (mine.expired) throw PendingRotationExpired();
  // reach: the agent's own device, which its token names
  await ctx.sql(`delete from agent_credentials where device_id = $1 and state = 'previous'`, [deviceId]);
  // reach: the agent's own device, which its token names
  await ctx.sql(
    `update agent_credentials set state = 'previous', expires_at = now() + $2::interval
     where device_id = $1 and state = 'current'`,
    [deviceId, PREVIOUS_LIFETIME],
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

/** Removes expired tokens, and tombstones older than a year. */
export async function cleanCredentials(ctx: Context): Promise<void> {
  // reach: retention by the platform role, for all organizations
  await ctx.sql('delete from agent_credentials where expires_at < now()');
  await ctx.sql(`delete from agent_tombstones where gone_at < now() - interval '1 year'`);
}
