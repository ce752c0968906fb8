/** Commands of devices that leave: waiting ones are cancelled, and the agent is asked to remove itself. */
import type { Context } from '#core';
import { COMMAND_FIELDS, type Command } from '../models/command.ts';
import { announceEnd, insertOrFind } from './queue.ts';

/** Cancels the commands that no agent has fetched yet, of one type or of all, and returns how many. */
export async function cancelWaiting(ctx: Context, deviceId: string, type?: string): Promise<number> {
  // reach: the device is being decommissioned or restored, which checked it
  const { rows } = await ctx.sql<Command>(
    `update device_commands set status = 'cancelled', finished_at = now(), payload = '{}'
     where device_id = $1 and status = 'pending' and ($2::text is null or type = $2) returning ${COMMAND_FIELDS}`,
    [deviceId, type ?? null],
  );
  for (const command of rows) announceEnd(ctx, command);
  return rows.length;
}

/**
 * Queues the command that removes the agent, whatever the lifecycle of the device, and returns its id. One that was sent before
 * the device was restored may still be with the agent; then that one remains.
 */
export async function queueUninstall(
  ctx: Context,
  device: { id: string; orgId: string },
  deliverBy: Date,
): Promise<string | undefined> {
  const { made, openId } = await insertOrFind(ctx, device, {
    type: 'uninstall_agent',
    dedupKey: 'uninstall_agent',
    deliverBy,
    executionTimeoutSeconds: 1800,
    source: 'system',
  });
  return made?.id ?? openId;
}
