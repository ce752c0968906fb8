/** Sends, lists and reads commands. */
import { createHash } from 'node:crypto';
import { type Context, errors, type PageQuery, page, type SortKey } from '#core';
import { BlockedByMaintenance, PowerCommandsOff } from '../errors.ts';
import { COMMAND_COLUMNS, Command, type CommandCreate, type CommandStatus, type ScriptRun } from '../models/command.ts';
import { mustBeSendable } from './command-types.ts';
import { blockedNow } from './guards.ts';
import { offForCommand } from './module-commands.ts';
import { powerBlocks } from './power.ts';
import { queueFor } from './queue.ts';
import { sentBy } from './senders.ts';
import { wake } from './wakes.ts';

const HOUR_MS = 3_600_000;
const ORDER = {
  name: 'device-commands-newest',
  keys: [
    { expression: 'device_commands.created_at', direction: 'desc', type: 'timestamptz' },
    { expression: 'device_commands.id', direction: 'desc', type: 'uuid' },
  ] satisfies SortKey[],
};

/** A shutdown cannot be undone remotely: it requires the second factor, or an API key with exactly this permission. */
export function mustHaveMfa(ctx: Context): void {
  const { actor, services } = ctx;
  if (actor.kind === 'api_key' && !actor.permissions.has('devices:execute')) throw errors.ScopeRequired();
  if (actor.kind === 'user' && services.config.identity.twoFactor && !actor.mfa) throw errors.MfaVerificationRequired();
}

export async function sendCommand(ctx: Context, deviceId: string, command: CommandCreate): Promise<{ data: Command }> {
  const devices = ctx.use('devices');
  // set_auto_update changes the device, which two concurrent calls could not do if both held a shared lock; wake locks another
  // device.
  const wished = command.type === 'set_auto_update';
  const later = wished || command.type === 'wake';
  const device = await (later ? devices.mustExist(deviceId) : devices.hold(deviceId));
  const { known, payload } = mustBeSendable(ctx, command.type, command.payload);
  if (known.mfa) mustHaveMfa(ctx);
  const off = offForCommand(ctx, [device.orgId], command.type).get(device.orgId);
  if (off) throw off;
  if ((await blockedNow(ctx, [deviceId], command.type)).has(deviceId)) throw BlockedByMaintenance();
  const refusedBy = (await powerBlocks(ctx, [device], command.type)).get(deviceId);
  if (refusedBy) throw PowerCommandsOff({ details: [{ by: refusedBy }] });
  if (known.relayed) return { data: await wake(ctx, device, known) };
  const waitMs = command.deliverByMinutes ? command.deliverByMinutes * 60_000 : known.deliverHours * HOUR_MS;
  if (wished) await devices.wishAutoUpdate([deviceId], payload.enabled === true);
  const held = wished ? await devices.hold(deviceId) : device;
  const queued = await queueFor(ctx, held, {
    ...sentBy(ctx),
    type: command.type,
    payload,
    deliverBy: new Date(Date.now() + waitMs),
    executionTimeoutSeconds: known.executionSeconds,
    whenOffline: command.whenOffline ?? 'queue',
    ...(known.targetRole ? { targetRole: known.targetRole } : {}),
    ...(known.single ? { dedupKey: command.type } : {}),
  });
  ctx.audit('device.command.queue', {
    orgId: device.orgId,
    resourceId: deviceId,
    resourceName: device.hostname,
    details: { type: command.type, commandId: queued.id },
  });
  return { data: queued };
}

/** Runs a script that is not in the library. The audit trail keeps its hash only, because the text can contain secrets. */
export async function runScript(ctx: Context, deviceId: string, script: ScriptRun): Promise<{ data: Command }> {
  const device = await ctx.use('devices').hold(deviceId);
  const contentSha256 = createHash('sha256').update(script.content).digest('hex');
  const command = await queueFor(ctx, device, {
    ...sentBy(ctx),
    type: 'script',
    payload: { ...script, contentSha256 },
    executionTimeoutSeconds: script.timeoutSeconds + 300,
  });
  const { language, timeoutSeconds } = script;
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
  await ctx.use('devices').mustExist(deviceId);
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
  await ctx.use('devices').mustExist(deviceId);
  const command = await Command.in(ctx)
    .select(COMMAND_COLUMNS as unknown as string[])
    .where({ deviceId })
    .findById(id);
  if (!command) throw errors.NotFound('Command not found');
  return command;
}
