/** Commands that must wait because another module says so: a restart while a maintenance window forbids it. */
import { type Context, defineError } from '#core';

export const BlockedByMaintenance = defineError(
  'BLOCKED_BY_MAINTENANCE',
  409,
  'A maintenance window does not allow this now',
);

/** Those of the devices that must not get a command of this type now. */
export async function blockedNow(ctx: Context, deviceIds: readonly string[], type: string): Promise<Set<string>> {
  const blocked = new Set<string>();
  if (deviceIds.length === 0) return blocked;
  for (const guard of ctx.fillings('devices.guard')) {
    for (const id of await guard.blocked(ctx, deviceIds, type)) blocked.add(id);
  }
  return blocked;
}
