/** The slots of devices, which other modules fill. */
import type { Context } from '#core';

/** Slot `devices.detail`: adds a field to `GET /devices/{id}` and to the export of many devices. */
export interface DeviceDetail {
  key: string;
  /** Values by device id; absent ones become null. Takes a fixed number of statements, whatever the number of devices. */
  readMany(ctx: Context, deviceIds: readonly string[]): Promise<Map<string, unknown>>;
}

/** Slot `devices.values`: validates custom values of a device and returns them in their stored form (null removes). */
export interface DeviceValues {
  check(
    ctx: Context,
    device: { orgId: string; osType: string; timeZone: string },
    values: Record<string, unknown>,
    /** Users when absent. Scripts can write other fields, and give all values as text. */
    by?: 'user' | 'script',
  ): Promise<Record<string, unknown>>;
}

/** Slot `devices.filter`: turns a saved filter into a condition for the list of devices. */
export interface DeviceFilter {
  /** Throws 404 for a filter out of reach. `where` refers to `devices d` and `joins`; its parameters begin at `$first`. */
  condition(ctx: Context, filterId: string, first: number): Promise<DeviceCondition>;
}
export interface DeviceCondition {
  where: string;
  params: unknown[];
  joins: readonly { alias: string; sql: string }[];
  /** The condition explicitly asks for decommissioned devices. */
  removed: boolean;
  /** Runs a statement with this condition under the time limit for filters. */
  limited<T>(run: () => Promise<T>): Promise<T>;
}

/** Slot `devices.groups`: resolves device groups, and adds new devices to them. */
export interface DeviceGroupNames {
  /** The ids that are not groups visible to the caller. */
  unseen(ctx: Context, ids: readonly string[]): Promise<string[]>;
  /** Throws 400 unless the caller can add a device of this organization and site to each of the groups. */
  mustBeJoinable(ctx: Context, place: { orgId: string; siteId: string }, ids: readonly string[]): Promise<void>;
  /** Adds a new device to groups that `mustBeJoinable` has accepted. */
  join(ctx: Context, deviceId: string, ids: readonly string[]): Promise<void>;
}

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
 * Slot `devices.follower`: updates another module's rows about a device that is moved, merged or purged. Runs in the same
 * transaction with the platform role, which reaches both organizations: every statement names the device.
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

/** A command as it travels to the agent. */
export interface ClaimedCommand {
  id: string;
  type: string;
  payload: Record<string, unknown>;
  priority: number;
  attempt: number;
  deliverBy: Date;
  executionTimeoutSeconds: number;
  createdAt: Date;
}
/** Slot `devices.commands`: the module that keeps the commands for devices. */
export interface DeviceCommands {
  /** SQL over an expression for a device's id: whether a command waits. Part of the heartbeat statement. */
  isWaiting(deviceId: string): string;
  /** SQL over an expression for a device's id: the number of waiting commands. Part of GET /devices/{id}. */
  countWaiting(deviceId: string): string;
  /** Gives out waiting commands, each once, in one statement. `epoch` is the connection that will carry them, if any. */
  claim(
    database: Pick<Context, 'sql'>,
    requests: readonly { deviceId: string; role: 'agent' | 'watchdog'; epoch?: number }[],
  ): Promise<{ deviceId: string; role: 'agent' | 'watchdog'; command: ClaimedCommand }[]>;
  /** Cancels waiting commands of a device, of one type or of all, and returns how many. */
  cancelWaiting(ctx: Context, deviceId: string, type?: string): Promise<number>;
  /** Queues the command that removes the agent of a decommissioned device, and returns its id. */
  queueUninstall(ctx: Context, device: { id: string; orgId: string }, deliverBy: Date): Promise<string | undefined>;
}

/** Slot `devices.metrics`: the module that keeps the metrics of heartbeats. */
export interface DeviceMetrics {
  /**
   * SQL that inserts the samples of a group commit, as part of the heartbeat statement. It reads `b`, one row for each heartbeat with
   * `device_id`, `at` and `metrics` (jsonb with the fields of HeartbeatMetrics, null when absent), joined with `old`, the known
   * devices with `device_id` and `org_id`.
   */
  insertSamples: string;
  /** The samples of the last 24 hours, for GET /devices/{id}. */
  readRecent(ctx: Context, deviceId: string): Promise<object[]>;
}

declare module '#core/contract' {
  interface Slots {
    'devices.detail': DeviceDetail;
    'devices.values': DeviceValues;
    'devices.filter': DeviceFilter;
    'devices.groups': DeviceGroupNames;
    'devices.follower': DeviceFollower;
    'devices.commands': DeviceCommands;
    'devices.metrics': DeviceMetrics;
  }
}
