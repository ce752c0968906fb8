/** The slot `devices.follower`: updates another module's rows about a device that is moved, merged or purged. */
import { type Context, defineSlot } from '#core';

/** The move of a device to another organization of its partner. */
export interface DeviceMove {
  deviceId: string;
  fromOrgId: string;
  toOrgId: string;
  fromSiteId: string;
  toSiteId: string;
}

export interface DeviceMerge {
  orgId: string;
  fromDeviceId: string;
  intoDeviceId: string;
}

/**
 * Runs in the same transaction with the platform role, which reaches both organizations: every statement names the device.
 */
export interface DeviceFollower {
  /** Why the device cannot be moved now (`remote_session`), or null. */
  holds?(ctx: Context, deviceId: string): Promise<string | null>;
  /** Moves current state; history stays with the organization in which it was written. */
  moved?(ctx: Context, move: DeviceMove): Promise<void>;
  /** Moves what users have set to the device that remains. Both devices are in `orgId`. */
  merged?(ctx: Context, merge: DeviceMerge): Promise<void>;
  /** Moves at most `maxRows` rows of history of each kind; true when rows are left. Runs in a job until all return false. */
  mergedHistory?(ctx: Context, merge: DeviceMerge, maxRows: number): Promise<boolean>;
  /** Deletes at most `maxRows` rows of a purged device and returns how many. Called again until it returns fewer. */
  purged?(ctx: Context, deviceId: string, maxRows: number): Promise<number>;
}

declare module '#core/contract' {
  interface Slots {
    'devices.follower': DeviceFollower;
  }
}

export default defineSlot<DeviceFollower>({
  summary: 'Updates rows about a device that is moved, merged or purged',
  steady: true,
});
