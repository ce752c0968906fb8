/** Updates of an agent in progress, which the device shows as its status. */
import type { Context } from '#core';
import { storableText } from '../../models/storable-text.ts';

/** The device shows `updating` for at most five minutes, or until it reports that version. */
export async function beginUpdate(ctx: Context, deviceId: string, targetVersion: string): Promise<void> {
  // reach: the agent's own device, which its token names
  await ctx.sql(
    `update device_state s set updating_since = now(), updating_to_version = $2
     from devices d where s.device_id = $1 and d.id = s.device_id and d.lifecycle = 'active'
       and d.agent_version is distinct from $2
       and (s.updating_since is null or s.updating_to_version is distinct from $2)`,
    [deviceId, storableText(targetVersion, 50) ?? ''],
  );
}

/** The update to that version has failed: the device no longer shows `updating`. */
export async function endUpdate(ctx: Context, deviceId: string, targetVersion: string): Promise<void> {
  // reach: the agent's own device, which its token names
  await ctx.sql(
    `update device_state set updating_since = null, updating_to_version = null
     where device_id = $1 and updating_to_version = $2`,
    [deviceId, storableText(targetVersion, 50) ?? ''],
  );
}
