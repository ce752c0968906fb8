/** The slots of devices: what others may fill in. */
import type { Context } from '#core';

/** Fills `GET /devices/{id}`, and the export of many devices, with what another module knows about each of them. */
export interface DeviceDetail {
  key: string;
  /** By the device's id, null where it is not in the answer. As many statements for hundreds as for one. */
  readMany(ctx: Context, deviceIds: readonly string[]): Promise<Map<string, unknown>>;
}

/** Slot `devices.values`: says which custom values a device may take, in their stored form (null removes). */
export interface DeviceValues {
  check(
    ctx: Context,
    device: { orgId: string; osType: string; timeZone: string },
    values: Record<string, unknown>,
    /** People when absent; scripts may write other fields, and say everything in text. */
    by?: 'user' | 'script',
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

/** Slot `devices.groups`: knows which device groups there are, and puts new devices into them. */
export interface DeviceGroupNames {
  /** Those of the ids that are no group that the caller sees. */
  unseen(ctx: Context, ids: readonly string[]): Promise<string[]>;
  /** Throws 400 unless a device of this place may be put into each of the groups by the caller. */
  mustBeJoinable(ctx: Context, place: { orgId: string; siteId: string }, ids: readonly string[]): Promise<void>;
  /** Puts a new device into groups that were found joinable. */
  join(ctx: Context, deviceId: string, ids: readonly string[]): Promise<void>;
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

/** A command of another module's that has ended, in the transaction that ends it. */
export interface EndedCommand {
  id: string;
  deviceId: string;
  orgId: string;
  type: string;
  status: 'completed' | 'failed' | 'timeout' | 'cancelled';
  error: string | null;
}
/**
 * Slot `devices.command`: commands that another module owns. It alone orders them (`queueCommand`), and it keeps their
 * results: with the command's row none is stored.
 */
export interface CommandOwner {
  types: ReadonlySet<string>;
  ended(ctx: Context, command: EndedCommand, result: unknown): Promise<void>;
}

declare module '#core/contract' {
  interface Slots {
    'devices.detail': DeviceDetail;
    'devices.values': DeviceValues;
    'devices.filter': DeviceFilter;
    'devices.groups': DeviceGroupNames;
    'devices.follower': DeviceFollower;
    'devices.guard': DeviceGuard;
    'devices.command': CommandOwner;
  }
}
