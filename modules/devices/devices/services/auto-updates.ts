/** Whether agents should update themselves: the setting of the operators, and its confirmation by the agents. */
import type { Context } from '#core';
import { Device } from '../models/device.ts';

/** Stores the setting; unconfirmed until a heartbeat or a result reports the same. */
export async function wishAutoUpdate(ctx: Context, deviceIds: readonly string[], enabled: boolean): Promise<void> {
  await Device.in(ctx)
    .whereIn('devices.id', [...deviceIds])
    .patch({ autoUpdateEnabled: enabled, autoUpdateConfirmedAt: null, updatedAt: new Date() });
}

/** Confirms the setting that the agent of the device reports, unless the operators have changed it. */
export async function confirmAutoUpdate(ctx: Context, deviceId: string, enabled: boolean): Promise<void> {
  await ctx.sql(
    // A concurrent change of the setting holds a lock on the device; then this confirmation is out of date.
    // reach: the agent's own device, which its token names
    `update devices set auto_update_confirmed_at = now() where id = (
       select id from devices where id = $1 and auto_update_enabled = $2 and auto_update_confirmed_at is null
       for no key update skip locked)`,
    [deviceId, enabled],
  );
}
