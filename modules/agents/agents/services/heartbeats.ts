/** Stores a heartbeat in the group commit of the devices module and makes its answer from memory. */

import type { ReceivedHeartbeat } from '#agent-protocol';
import type { Context, Input } from '#core';
import type { Apis } from '#core/contract';
import { agentConfigs } from './configs.ts';
import { callerToken } from './tokens/authentication.ts';
import type { KnownToken } from './tokens/token-cache.ts';
import { upgradeOffers } from './upgrade-offers.ts';

type Heartbeat = Parameters<Apis['devices']['heartbeat']>[0];

/** Fields of a heartbeat that are stored as they are sent. */
const REPORTED = [
  'agentVersion',
  'helperVersion',
  'watchdogVersion',
  'watchdogState',
  'hostname',
  'osVersion',
  'osBuild',
  'uptimeSeconds',
  'lastUser',
  'pendingReboot',
  'autoUpdateEnabled',
  'powerCommands',
  'isHeadless',
  'status',
  'mainAgentRestartCount24h',
  'flapDetected',
] as const;
type Reported = (typeof REPORTED)[number];

const DAY_MS = 86_400_000;
const JITTER = 0.1;

/** Leaves out missing and invalid fields, so that the stored values remain. */
function present<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const kept = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]?: NonNullable<T[K]> };
}

/** A watchdog token always acts for the watchdog, whatever role the body names. */
const roleOf = (token: KnownToken, body: ReceivedHeartbeat): 'agent' | 'watchdog' =>
  token.role === 'watchdog' ? 'watchdog' : (body.role ?? 'agent');

function toHeartbeat(ctx: Context, token: KnownToken, body: ReceivedHeartbeat): Heartbeat {
  return {
    deviceId: token.deviceId,
    orgId: token.orgId,
    at: new Date(),
    ip: ctx.actor.ip,
    role: roleOf(token, body),
    ...present(Object.fromEntries(REPORTED.map((name) => [name, body[name]])) as Pick<ReceivedHeartbeat, Reported>),
    ...(body.battery ? { battery: body.battery as Record<string, unknown> } : {}),
    ...(body.metrics ? { metrics: present(body.metrics) } : {}),
  };
}

/** Seconds until the next heartbeat, with a jitter that spreads agents which started together. */
export function nextHeartbeat(intervalSeconds: number, random = Math.random()): number {
  return Math.max(1, Math.round(intervalSeconds * (1 - JITTER + 2 * JITTER * random)));
}

/** Stores a heartbeat and answers it with what the agent should do. A quarantined device gets no commands. */
export async function acceptHeartbeat(
  ctx: Context,
  input: Pick<Input<unknown, unknown, ReceivedHeartbeat | null>, 'headers' | 'payload'>,
) {
  const { answer, commands } = await answerHeartbeat(ctx, await callerToken(ctx, input), input.payload ?? {});
  return { ...answer, commands: commands.map(toWire) };
}

/**
 * @param epoch the connection that the heartbeat came over; it receives the commands.
 * @returns the answer, and the commands that were claimed with it.
 */
export async function answerHeartbeat(ctx: Context, token: KnownToken, body: ReceivedHeartbeat, epoch?: number) {
  const configs = agentConfigs(ctx);
  const heartbeat = toHeartbeat(ctx, token, body);
  const [answer, current] = await Promise.all([
    ctx.use('devices').heartbeat(epoch === undefined ? heartbeat : { ...heartbeat, epoch }),
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
    nextHeartbeatSeconds: nextHeartbeat(current.config.heartbeatIntervalSeconds),
    serverTime: new Date(),
  };
  return { answer: said, commands: answer.lifecycle === 'quarantined' ? [] : answer.commands };
}

/** The fields of a command that its agent receives. */
export interface SentCommand {
  id: string;
  type: string;
  payload: Record<string, unknown>;
  deliverBy: Date;
  executionTimeoutSeconds: number;
}

export function toWire(command: SentCommand): SentCommand {
  const { id, type, payload, deliverBy, executionTimeoutSeconds } = command;
  return { id, type, payload, deliverBy, executionTimeoutSeconds };
}
