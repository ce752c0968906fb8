/** A heartbeat: one item of the devices' group commit, and an answer made from memory. */

import type { ReceivedHeartbeat } from '#agent-protocol';
import type { Context, Input } from '#core';
import type { Apis } from '#core/contract';
import { agentConfigs } from './configs.ts';
import { callerToken } from './tokens/authentication.ts';
import type { KnownToken } from './tokens/token-cache.ts';
import { upgradeOffers } from './upgrade-offers.ts';

type Beat = Parameters<Apis['devices']['heartbeat']>[0];

const DAY_MS = 86_400_000;
const JITTER = 0.1;

/** Leaves out what is missing or was dropped as bad; such fields keep what is known. */
function present<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const kept = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]?: NonNullable<T[K]> };
}

/** A watchdog token speaks for the watchdog, whatever the body says. */
const roleOf = (token: KnownToken, body: ReceivedHeartbeat): 'agent' | 'watchdog' =>
  token.role === 'watchdog' ? 'watchdog' : (body.role ?? 'agent');

function toBeat(ctx: Context, token: KnownToken, body: ReceivedHeartbeat): Beat {
  const { agentVersion, helperVersion, watchdogVersion, watchdogState } = body;
  const { hostname, osVersion, osBuild, uptimeSeconds, lastUser, pendingReboot, battery, autoUpdateEnabled } = body;
  return {
    deviceId: token.deviceId,
    orgId: token.orgId,
    at: new Date(),
    ip: ctx.actor.ip,
    role: roleOf(token, body),
    ...present({ agentVersion, helperVersion, watchdogVersion, watchdogState }),
    ...present({ hostname, osVersion, osBuild, uptimeSeconds, lastUser, pendingReboot, autoUpdateEnabled }),
    ...(battery ? { battery: battery as Record<string, unknown> } : {}),
    ...(body.metrics ? { metrics: present(body.metrics) } : {}),
  };
}

/** Seconds to the next beat, spread so that agents which started together do not stay together. */
export function nextBeat(intervalSeconds: number, random = Math.random()): number {
  return Math.max(1, Math.round(intervalSeconds * (1 - JITTER + 2 * JITTER * random)));
}

/** Accepts the beat and says what the agent should do; a quarantined device is only acknowledged. */
export async function acceptHeartbeat(
  ctx: Context,
  input: Pick<Input<unknown, unknown, ReceivedHeartbeat | null>, 'headers' | 'payload'>,
) {
  const { answer, commands } = await answerBeat(ctx, await callerToken(ctx, input), input.payload ?? {});
  return { ...answer, commands: commands.map(toWire) };
}

/**
 * @param epoch the connection that the beat came over, which will carry the commands.
 * @returns the answer, and the commands that are given out with it.
 */
export async function answerBeat(ctx: Context, token: KnownToken, body: ReceivedHeartbeat, epoch?: number) {
  const configs = agentConfigs(ctx);
  const beat = toBeat(ctx, token, body);
  const [answer, current] = await Promise.all([
    ctx.use('devices').heartbeat(epoch === undefined ? beat : { ...beat, epoch }),
    configs.of(token.orgId),
  ]);
  const active = answer.lifecycle === 'active';
  if (active && body.ipHistoryUpdate) {
    await ctx.use('devices').noteAddresses(token.deviceId, body.ipHistoryUpdate.currentIPs);
  }
  const busy = answer.commands.length > 0;
  const offers = await upgradeOffers(ctx, token, body, { role: roleOf(token, body), active, busy });
  const rotationDue = Date.now() - token.createdAt.getTime() > current.tokenRotationDays * DAY_MS;
  const said = {
    configUpdate: active ? configs.update(token.deviceId, current, body.configVersion) : null,
    configVersion: current.configVersion,
    ...offers,
    rotateToken: active && token.role === 'agent' && token.state === 'current' && rotationDue,
    uninstall: answer.uninstall,
    nextHeartbeatSeconds: nextBeat(current.config.heartbeatIntervalSeconds),
    serverTime: new Date(),
  };
  return { answer: said, commands: answer.lifecycle === 'quarantined' ? [] : answer.commands };
}

/** A command as the wire carries it. */
export function toWire(command: {
  id: string;
  type: string;
  payload: Record<string, unknown>;
  deliverBy: Date;
  executionTimeoutSeconds: number;
}) {
  const { id, type, payload, deliverBy, executionTimeoutSeconds } = command;
  return { id, type, payload, deliverBy, executionTimeoutSeconds };
}
