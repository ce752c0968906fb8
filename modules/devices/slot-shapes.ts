/** The slots of devices: what others may fill in. */
import type { Context } from '#core';

/** Fills `GET /devices/{id}` with what another module knows about the device. */
export interface DeviceDetail {
  key: string;
  read(ctx: Context, deviceId: string): Promise<unknown>;
}

/** Slot `devices.values`: says which custom values a device may take, in their stored form (null removes). */
export interface DeviceValues {
  check(
    ctx: Context,
    device: { orgId: string; osType: string; timeZone: string },
    values: Record<string, unknown>,
  ): Promise<Record<string, unknown>>;
}

/** Slot `devices.filter`: what a saved filter, named by its id, means for the list of devices. */
export interface DeviceFilter {
  /** 404 for a filter out of reach. `where` speaks of `devices d` and `joins`; its parameters begin at `$first`. */
  condition(ctx: Context, filterId: string, first: number): Promise<DeviceCondition>;
}
export interface DeviceCondition {
  where: string;
  params: unknown[];
  joins: readonly { alias: string; sql: string }[];
  /** It asks for decommissioned devices by name. */
  removed: boolean;
  /** Runs a statement with this condition under its time limit. */
  limited<T>(run: () => Promise<T>): Promise<T>;
}

/** Slot `devices.groups`: knows which device groups there are. */
export interface DeviceGroupNames {
  /** Those of the ids that are no group that the caller sees. */
  unseen(ctx: Context, ids: readonly string[]): Promise<string[]>;
}

/** A device on its way to another organization of its partner. */
export interface DeviceMove {
  deviceId: string;
  fromOrgId: string;
  toOrgId: string;
  fromSiteId: string;
  toSiteId: string;
}
/**
 * Slot `devices.follower`: what becomes of another module's rows about devices. All of it runs in the transaction of what
 * happens, in the platform's role, which reaches both organizations: every statement names the device.
 */
export interface DeviceFollower {
  /** Why the device must stay where it is for now (`remote_session`), or null. */
  holds?(ctx: Context, deviceId: string): Promise<string | null>;
  /** Current state goes along, history stays with the organization it was written in. */
  moved?(ctx: Context, move: DeviceMove): Promise<void>;
  /** What people have set, and history, goes over to the device that stays. Both lie in `orgId`. */
  merged?(ctx: Context, merge: { orgId: string; fromDeviceId: string; intoDeviceId: string }): Promise<void>;
  /** Removes at most `most` rows about a device that is to vanish; how many went. Asked again until it says fewer. */
  purged?(ctx: Context, deviceId: string, most: number): Promise<number>;
}

/** Slot `devices.guard`: says which devices must not get a command of a type now, as a maintenance window forbids it. */
export interface DeviceGuard {
  blocked(ctx: Context, deviceIds: readonly string[], type: string): Promise<readonly string[]>;
}

declare module '#core/contract' {
  interface Slots {
    'devices.detail': DeviceDetail;
    'devices.values': DeviceValues;
    'devices.filter': DeviceFilter;
    'devices.groups': DeviceGroupNames;
    'devices.follower': DeviceFollower;
    'devices.guard': DeviceGuard;
  }
}
