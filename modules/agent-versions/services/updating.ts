/** Shows a device as `updating`, for five minutes at most: its own sweep and its next beat end that (domain/agents, section 6). */
import type { Context } from '#core';

// These two columns are how devices shows an update; the frame `update_status` of a socket sets the same ones.
const BEGIN = `
update device_state s set updating_since = now(), updating_to_version = $2
from devices d where s.device_id = $1 and d.id = s.device_id and d.lifecycle = 'active'
  and d.agent_version is distinct from $2 and s.updating_to_version is distinct from $2`;
const END = 'update device_state set updating_since = null, updating_to_version = null where device_id = $1';

/** @param version null when the update has ended without success. */
export async function showUpdating(ctx: Context, deviceId: string, version: string | null): Promise<void> {
  await ctx.sql(version === null ? END : BEGIN, version === null ? [deviceId] : [deviceId, version]);
}
