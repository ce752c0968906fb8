/** Cancels commands: waiting ones at once, delivered ones when their agent reports that it has stopped. */
import { type Context, errors } from '#core';
import { COMMAND_COLUMNS, COMMAND_FIELDS, Command } from '../models/command.ts';
import { mustExistCommand } from './commands.ts';
import { announceEnd, queueCommand } from './queue.ts';

/** The command that stops another one, which is its `sourceId` and the `commandId` of its payload. Users cannot send it. */
export const CANCEL_COMMAND = 'cancel_command';
/** Types that can be stopped halfway without leaving the machine in an unintended state. */
const CANCELLABLE = new Set(['script', 'refresh_inventory', 'patch_scan', 'security_scan']);
const HOUR_MS = 3_600_000;

/** Throws 404, and 409 INVALID_STATE for a command that has ended, or is in progress and cannot be stopped. */
export async function cancelCommand(ctx: Context, deviceId: string, id: string): Promise<{ data: Command }> {
  const device = await ctx.use('devices').mustExist(deviceId);
  const { cancelled, asked } = await cancelWaitingOne(ctx, deviceId, id);
  const command = cancelled ?? (await askToStop(ctx, deviceId, id));
  if (!cancelled && asked) ctx.unchanged();
  else {
    ctx.audit('device.command.cancel', {
      orgId: device.orgId,
      resourceId: deviceId,
      resourceName: device.hostname,
      details: { type: command.type, commandId: id, ...(cancelled ? {} : { asked: true }) },
    });
  }
  if (cancelled) announceEnd(ctx, cancelled);
  return { data: command };
}

async function cancelWaitingOne(ctx: Context, deviceId: string, id: string) {
  const cancelled = await Command.in(ctx)
    .where({ id, deviceId, status: 'pending' })
    .patch({ status: 'cancelled', finishedAt: new Date(), payload: '{}' } as Partial<Command>)
    .returning(COMMAND_COLUMNS as unknown as string[])
    .first();
  if (cancelled) return { cancelled, asked: false };
  const { status, type, cancelRequestedAt } = await mustExistCommand(ctx, deviceId, id);
  if (!['sent', 'running'].includes(status) || !CANCELLABLE.has(type)) throw notCancellable(status);
  return { cancelled: undefined, asked: cancelRequestedAt !== null };
}

const notCancellable = (current: string) => errors.InvalidState({ details: [{ current, allowed: ['pending'] }] });

/** Locks the device first, as a decommission does. A repeat changes nothing. */
async function askToStop(ctx: Context, deviceId: string, id: string): Promise<Command> {
  const { targetRole } = await mustExistCommand(ctx, deviceId, id);
  await queueCommand(ctx, deviceId, {
    type: CANCEL_COMMAND,
    payload: { commandId: id },
    priority: 10,
    targetRole,
    deliverBy: new Date(Date.now() + HOUR_MS),
    executionTimeoutSeconds: 60,
    dedupKey: `cancel:${id}`,
    source: 'system',
    sourceId: id,
  }).catch((fault: { code?: string }) => {
    if (fault.code !== errors.AlreadyPending.code) throw fault;
  });
  const asked = await Command.in(ctx)
    .where({ id, deviceId })
    .whereIn('device_commands.status', ['sent', 'running'])
    .patch({
      cancelRequestedAt: Command.raw('coalesce(cancel_requested_at, now())'),
      cancelRequestedBy: ctx.actor.kind === 'user' ? ctx.actor.id : null,
    } as unknown as Partial<Command>)
    .returning(COMMAND_COLUMNS as unknown as string[])
    .first();
  if (!asked) throw notCancellable((await mustExistCommand(ctx, deviceId, id)).status);
  return asked;
}

/** The agent never received the command that it should stop: the command will not run, so it is cancelled. */
export async function cancelUndelivered(ctx: Context, stop: Command, result: unknown): Promise<void> {
  if ((result as { state?: unknown } | null | undefined)?.state !== 'unknown') return;
  const { rows } = await ctx.sql<Command>(
    `update device_commands set status = 'cancelled', finished_at = now(), payload = '{}'
     where id = $1 and device_id = $2 and status in ('sent', 'running') and cancel_requested_at is not null
     returning ${COMMAND_FIELDS}`,
    [stop.sourceId, stop.deviceId],
  );
  for (const command of rows) announceEnd(ctx, command);
}
