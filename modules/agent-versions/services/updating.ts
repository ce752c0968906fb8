/** Shows a device as `updating`, for five minutes at most: its own sweep and its next beat end that (domain/agents, section 6). */
import type { Context } from '#core';

// Devices have no door for an update that failed early: without this its agent would show updating for the rest of the time.
const END = 'update device_state set updating_since = null, updating_to_version = null where device_id = $1';

/** @param version null when the update has ended without success. */
export async function showUpdating(ctx: Context, deviceId: string, version: string | null): Promise<void> {
  if (version === null) await ctx.sql(END, [deviceId]);
  else await ctx.use('devices').beginUpdate(deviceId, version);
}
