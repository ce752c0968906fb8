/** Commands as people see them: sending, listing, reading. */
import { createHash } from 'node:crypto';
import { type Context, errors, type PageQuery, page, type SortKey } from '#core';
import type { CommandStatus } from '../../api.ts';
import { COMMAND_COLUMNS, Command, type CommandOrder, type ScriptOrder } from '../../models/command.ts';
import { mustExist, wishAutoUpdate } from '../devices.ts';
import { mustBeSendable } from './command-types.ts';
import { BlockedByMaintenance, blockedNow } from './guards.ts';
import { orderedBy } from './orderers.ts';
import { holdDevice, queueFor } from './queue.ts';
import { wake } from './wakes.ts';

const HOUR_MS = 3_600_000;
const ORDER = {
  name: 'device-commands-newest',
  keys: [
    { expression: 'device_commands.created_at', direction: 'desc', type: 'timestamptz' },
    { expression: 'device_commands.id', direction: 'desc', type: 'uuid' },
  ] satisfies SortKey[],
};

/** Shutting down cannot be undone from afar: it wants the second factor, or a key that was given exactly this. */
export function mustHaveMfa(ctx: Context): void {
  const { actor, services } = ctx;
  if (actor.kind === 'api_key' && !actor.permissions.has('devices:execute')) throw errors.ScopeRequired();
  if (actor.kind === 'user' && services.config.identity.twoFactor && !actor.mfa) throw errors.MfaVerificationRequired();
}

export async function sendCommand(ctx: Context, deviceId: string, order: CommandOrder): Promise<{ data: Command }> {
  // A wish changes the device, which two calls at once could not do after both have taken a shared lock; a call to wake
  // holds another device.
  const wished = order.type === 'set_auto_update';
  const later = wished || order.type === 'wake';
  const device = await (later ? mustExist(ctx, deviceId) : holdDevice(ctx, deviceId));
  const { known, payload } = mustBeSendable(ctx, order.type, order.payload);
  if (known.mfa) mustHaveMfa(ctx);
  if ((await blockedNow(ctx, [deviceId], order.type)).has(deviceId)) throw BlockedByMaintenance();
  if (known.relayed) return { data: await wake(ctx, device, known) };
  const waitMs = order.deliverByMinutes ? order.deliverByMinutes * 60_000 : known.deliverHours * HOUR_MS;
  if (wished) await wishAutoUpdate(ctx, deviceId, payload.enabled === true);
  const held = wished ? await holdDevice(ctx, deviceId) : device;
  const command = await queueFor(ctx, held, {
    ...orderedBy(ctx),
    type: order.type,
    payload,
    deliverBy: new Date(Date.now() + waitMs),
    executionTimeoutSeconds: known.executionSeconds,
    whenOffline: order.whenOffline ?? 'queue',
    ...(known.targetRole ? { targetRole: known.targetRole } : {}),
    ...(known.single ? { dedupKey: order.type } : {}),
  });
  ctx.audit('device.command.queue', {
    orgId: device.orgId,
    resourceId: deviceId,
    resourceName: device.hostname,
    details: { type: order.type, commandId: command.id },
  });
  return { data: command };
}

/** Runs a script that is not in the library. The trail keeps its hash: the text may hold secrets. */
export async function runScript(ctx: Context, deviceId: string, order: ScriptOrder): Promise<{ data: Command }> {
  const device = await holdDevice(ctx, deviceId);
  const contentSha256 = createHash('sha256').update(order.content).digest('hex');
  const command = await queueFor(ctx, device, {
    ...orderedBy(ctx),
    type: 'script',
    payload: { ...order, contentSha256 },
    executionTimeoutSeconds: order.timeoutSeconds + 300,
  });
  const { language, timeoutSeconds } = order;
  ctx.audit('script.execute', {
    orgId: device.orgId,
    resourceType: 'device',
    resourceId: deviceId,
    resourceName: device.hostname,
    details: { commandId: command.id, language, timeoutSeconds, contentSha256 },
  });
  return { data: command };
}

export async function listCommands(
  ctx: Context,
  deviceId: string,
  query: PageQuery & { status?: CommandStatus; type?: string },
) {
  await mustExist(ctx, deviceId);
  const commands = Command.in(ctx)
    .select(COMMAND_COLUMNS.map((name) => `device_commands.${name}`))
    .where({ deviceId });
  if (query.status) commands.where('device_commands.status', query.status);
  if (query.type) commands.where('device_commands.type', query.type);
  return page(commands, query, ORDER);
}

export async function readCommand(ctx: Context, deviceId: string, id: string): Promise<{ data: object }> {
  const command = await mustExistCommand(ctx, deviceId, id);
  const { rows } = await ctx.sql<{ stdout: string | null; stderr: string | null; truncated: boolean }>(
    'select stdout, stderr, truncated from device_command_output where command_id = $1',
    [id],
  );
  const { stdout = null, stderr = null, truncated = false } = rows[0] ?? {};
  return { data: { ...command.toJSON(), stdout, stderr, outputTruncated: truncated } };
}

export async function mustExistCommand(ctx: Context, deviceId: string, id: string): Promise<Command> {
  await mustExist(ctx, deviceId);
  const command = await Command.in(ctx)
    .select(COMMAND_COLUMNS as unknown as string[])
    .where({ deviceId })
    .findById(id);
  if (!command) throw errors.NotFound('Command not found');
  return command;
}
