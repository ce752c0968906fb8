/** Commands of devices that are decommissioned or quarantined, through the slot `devices.commands`. */
import type { Context } from '#core';

/** Cancels waiting commands of a device, of one type or of all, and returns how many. */
export async function cancelWaiting(ctx: Context, deviceId: string, type?: string): Promise<number> {
  let cancelled = 0;
  for (const commands of ctx.contributions('devices.commands')) {
    cancelled += await commands.cancelWaiting(ctx, deviceId, type);
  }
  return cancelled;
}

/** Queues the command that removes the agent, and returns its id; undefined when no module keeps commands. */
export async function queueUninstall(
  ctx: Context,
  device: { id: string; orgId: string },
  deliverBy: Date,
): Promise<string | undefined> {
  const [commands] = ctx.contributions('devices.commands');
  return commands?.queueUninstall(ctx, device, deliverBy);
}
