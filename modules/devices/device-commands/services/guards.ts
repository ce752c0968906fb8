/** Commands that another module blocks for now, as a maintenance window blocks a restart. */
import type { Context } from '#core';

/** The devices that must not receive a command of this type now. */
export async function blockedNow(ctx: Context, deviceIds: readonly string[], type: string): Promise<Set<string>> {
  const blocked = new Set<string>();
  if (deviceIds.length === 0) return blocked;
  for (const guard of ctx.contributions('device-commands.guard')) {
    for (const id of await guard.blocked(ctx, deviceIds, type)) blocked.add(id);
  }
  return blocked;
}
