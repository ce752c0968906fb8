/** The slot `devices.groups`: resolves device groups, and adds new devices to them. */
import { type Context, defineSlot } from '#core';

export interface DeviceGroupNames {
  /** The ids that are not groups visible to the caller. */
  unseen(ctx: Context, ids: readonly string[]): Promise<string[]>;
  /** Throws 400 unless the caller can add a device of this organization and site to each of the groups. */
  mustBeJoinable(ctx: Context, place: { orgId: string; siteId: string }, ids: readonly string[]): Promise<void>;
  /** Adds a new device to groups that `mustBeJoinable` has accepted. */
  join(ctx: Context, deviceId: string, ids: readonly string[]): Promise<void>;
}

declare module '#core/contract' {
  interface Slots {
    'devices.groups': DeviceGroupNames;
  }
}

export default defineSlot<DeviceGroupNames>({
  summary: 'Resolves device groups and adds new devices to them',
});
