/** Adds commands to the queue of a device, and announces their end. */
import { randomUUID } from 'node:crypto';
import { type Context, errors } from '#core';
import { DeviceOffline } from '../errors.ts';
import finished from '../events/finished.ts';
import type { TargetRole } from '../models/claimed-command.ts';
import { COMMAND_FIELDS, type Command, type CommandSource } from '../models/command.ts';
import { sealPayload } from './sealed-payloads.ts';

const DAY_MS = 86_400_000;
const MAX_PAYLOAD_BYTES = 256 * 1024;

/** A command to be queued. */
export interface QueuedCommand {
  type: string;
  payload?: Record<string, unknown>;
  priority?: number;
  /** Delivery deadline; in seven days when absent. */
  deliverBy?: Date;
  /** 1 to 90,000 seconds; five minutes when absent. */
  executionTimeoutSeconds?: number;
  /** Seconds without a result after which the command times out; the execution timeout and a minute when absent. */
  runLimitSeconds?: number;
  targetRole?: TargetRole;
  whenOffline?: 'queue' | 'fail';
  /** At most one open command with the same key for each device; a second one throws ALREADY_PENDING. */
  dedupKey?: string;
  source: CommandSource;
  sourceId?: string | null;
  batchId?: string | null;
}

/** What the queue needs of a device. */
interface Recipient {
  id: string;
  orgId: string;
}

const OPEN = `('pending', 'sent', 'running')`;
// reach: the device is held by the callers, which checks it
const INSERT = `
insert into device_commands (id, device_id, org_id, submitted_org_id, type, payload, priority, target_role, when_offline,
  deliver_by, execution_timeout_seconds, dedup_key, source, source_id, batch_id, created_by,
  run_limit_seconds, causation)
values ($17, $1, $2, $2, $3, $4::jsonb, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16::jsonb)
on conflict (device_id, dedup_key) where status in ${OPEN} do nothing
returning ${COMMAND_FIELDS}`;

/**
 * Queues a command and locks the device against a concurrent decommission. Throws 404, 409 INVALID_STATE, DEVICE_OFFLINE or
 * ALREADY_PENDING {commandId}, and 413. Writes no audit entry.
 */
export async function queueCommand(ctx: Context, deviceId: string, command: QueuedCommand): Promise<Command> {
  return queueFor(ctx, await ctx.use('devices').hold(deviceId), command);
}

/** Like `queueCommand`, for a device that is locked already. */
export async function queueFor(
  ctx: Context,
  device: Recipient & { lifecycle: string },
  command: QueuedCommand,
): Promise<Command> {
  if (device.lifecycle !== 'active') {
    throw errors.InvalidState({ details: [{ current: device.lifecycle, allowed: ['active'] }] });
  }
  if (command.whenOffline === 'fail' && !(await ctx.use('devices').isOnline(device.id))) throw DeviceOffline();
  return insertCommand(ctx, device, command);
}

export async function insertCommand(ctx: Context, device: Recipient, command: QueuedCommand): Promise<Command> {
  const { made, openId } = await insertOrFind(ctx, device, command);
  if (made) return made;
  throw errors.AlreadyPending(openId ? { details: [{ commandId: openId }] } : {});
}

/**
 * Returns the queued command, or the id of the open command with the same key. Does not check the device, so that a
 * decommissioned one can be asked to remove its agent. Throws 413.
 */
export async function insertOrFind(
  ctx: Context,
  device: Recipient,
  command: QueuedCommand,
): Promise<{ made?: Command; openId?: string }> {
  const plain = command.payload ?? {};
  if (Buffer.byteLength(JSON.stringify(plain)) > MAX_PAYLOAD_BYTES)
    throw errors.PayloadTooLarge('The payload of a command has at most 256 KiB');
  const id = randomUUID();
  const payload = JSON.stringify(sealPayload(ctx, { id, type: command.type, payload: plain }));
  const values = [
    ...[device.id, device.orgId, command.type, payload, command.priority ?? 0, command.targetRole ?? 'agent'],
    ...[command.whenOffline ?? 'queue', command.deliverBy ?? new Date(Date.now() + 7 * DAY_MS)],
    ...[command.executionTimeoutSeconds ?? 300, command.dedupKey ?? null, command.source, command.sourceId ?? null],
    ...[command.batchId ?? null, ctx.actor.kind === 'user' ? ctx.actor.id : null, command.runLimitSeconds ?? null],
    ...[JSON.stringify(ctx.causation), id],
  ];
  // The open command may end between the two statements; then another insert succeeds.
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const { rows } = await ctx.sql<Command>(INSERT, values);
    if (rows[0]) {
      ctx.hint('device-commands.waiting', device.id);
      return { made: rows[0] };
    }
    // reach: the device is held by the callers, which checks it
    const open = await ctx.sql<{ id: string }>(
      `select id from device_commands where device_id = $1 and dedup_key = $2 and status in ${OPEN}`,
      [device.id, command.dedupKey],
    );
    if (open.rows[0]) return { openId: open.rows[0].id };
  }
  return {};
}

/** Emits the event and the hint for a command that has ended. */
export function announceEnd(ctx: Context, command: Command): void {
  const { id: commandId, type, status, exitCode, late, source, sourceId, orgId, deviceId, causation } = command;
  const about = { orgId, deviceId, ...(causation ? { causation } : {}) };
  ctx.emit(finished, { commandId, type, status, exitCode, late, source, sourceId }, about);
  ctx.hint('device-commands.ended', commandId);
}
