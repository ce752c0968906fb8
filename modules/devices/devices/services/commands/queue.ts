/** Puts a command into a device's queue, and takes waiting ones out again. */
import { type Context, defineError, errors } from '#core';
import type { CommandRow, QueuedCommand } from '../../api.ts';
import { COMMAND_FIELDS, type Command } from '../../models/command.ts';
import { Device } from '../../models/device.ts';

export const DeviceOffline = defineError('DEVICE_OFFLINE', 409, 'The device is offline');

const DAY_MS = 86_400_000;
const MOST_BYTES = 256 * 1024;

const OPEN = `('pending', 'sent', 'running')`;
const INSERT = `
insert into device_commands (device_id, org_id, submitted_org_id, type, payload, priority, target_role, when_offline,
  deliver_by, execution_timeout_seconds, dedup_key, source, source_id, batch_id, created_by,
  run_limit_seconds)
values ($1, $2, $2, $3, $4::jsonb, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
on conflict (device_id, dedup_key) where status in ${OPEN} do nothing
returning ${COMMAND_FIELDS}`;

/**
 * Locks the device against a decommission at the same time. Throws 404, 409 INVALID_STATE, DEVICE_OFFLINE,
 * ALREADY_PENDING {commandId}, or 413.
 */
export async function queueCommand(ctx: Context, deviceId: string, command: QueuedCommand): Promise<Command> {
  return queueFor(ctx, await holdDevice(ctx, deviceId), command);
}

/** Held as it is until the work ends. Throws 404. */
export async function holdDevice(ctx: Context, deviceId: string): Promise<Device> {
  const device = await Device.in(ctx).findById(deviceId).forShare();
  if (!device) throw errors.NotFound('Device not found');
  return device;
}

/** The same as `queueCommand` for a device that is held already. */
export async function queueFor(ctx: Context, device: Device, command: QueuedCommand): Promise<Command> {
  if (device.lifecycle !== 'active') {
    throw errors.InvalidState({ details: [{ current: device.lifecycle, allowed: ['active'] }] });
  }
  if (command.whenOffline === 'fail') await mustBeOnline(ctx, device.id);
  return insertCommand(ctx, device, command);
}

export async function insertCommand(ctx: Context, device: Device, command: QueuedCommand): Promise<Command> {
  const { made, openId } = await insertOrFind(ctx, device, command);
  if (made) return made;
  throw errors.AlreadyPending(openId ? { details: [{ commandId: openId }] } : {});
}

/**
 * The command in the queue, or the id of the open one that holds its key. Without any check of the device: for the last
 * order a decommissioned device gets. Throws 413.
 */
export async function insertOrFind(
  ctx: Context,
  device: Device,
  command: QueuedCommand,
): Promise<{ made?: Command; openId?: string }> {
  const payload = JSON.stringify(command.payload ?? {});
  if (Buffer.byteLength(payload) > MOST_BYTES)
    throw errors.PayloadTooLarge('The payload of a command has at most 256 KiB');
  const values = [
    ...[device.id, device.orgId, command.type, payload, command.priority ?? 0, command.targetRole ?? 'agent'],
    ...[command.whenOffline ?? 'queue', command.deliverBy ?? new Date(Date.now() + 7 * DAY_MS)],
    ...[command.executionTimeoutSeconds ?? 300, command.dedupKey ?? null, command.source, command.sourceId ?? null],
    ...[command.batchId ?? null, ctx.actor.kind === 'user' ? ctx.actor.id : null, command.runLimitSeconds ?? null],
  ];
  // The command that was in the way may end between the two statements; then the place is free.
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const { rows } = await ctx.sql<Command & CommandRow>(INSERT, values);
    if (rows[0]) {
      ctx.hint('devices.commands', device.id);
      return { made: rows[0] };
    }
    const open = await ctx.sql<{ id: string }>(
      `select id from device_commands where device_id = $1 and dedup_key = $2 and status in ${OPEN}`,
      [device.id, command.dedupKey],
    );
    if (open.rows[0]) return { openId: open.rows[0].id };
  }
  return {};
}

async function mustBeOnline(ctx: Context, deviceId: string): Promise<void> {
  const { rows } = await ctx.sql<{ connectivity: string }>(
    'select connectivity from device_state where device_id = $1',
    [deviceId],
  );
  if (rows[0]?.connectivity !== 'online') throw DeviceOffline();
}

/** Tells whoever ordered it that a command has ended. */
export function tellFinished(ctx: Context, command: Command): void {
  const { id: commandId, type, status, exitCode, late, source, sourceId, orgId, deviceId } = command;
  ctx.emit(
    'devices.command.finished',
    { commandId, type, status, exitCode, late, source, sourceId },
    { orgId, deviceId },
  );
  ctx.hint('devices.command.done', commandId);
}

/** Cancels what nobody has fetched yet; `which` narrows it, with the parameters after the device's id. */
export async function cancelWaiting(ctx: Context, deviceId: string, which = 'true', values: unknown[] = []) {
  const { rows } = await ctx.sql<Command>(
    `update device_commands set status = 'cancelled', finished_at = now(), payload = '{}'
     where device_id = $1 and status = 'pending' and (${which}) returning ${COMMAND_FIELDS}`,
    [deviceId, ...values],
  );
  for (const command of rows) tellFinished(ctx, command);
  return rows;
}
