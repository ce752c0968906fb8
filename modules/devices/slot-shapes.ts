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

declare module '#core/contract' {
  interface Slots {
    'devices.detail': DeviceDetail;
    'devices.values': DeviceValues;
    'devices.filter': DeviceFilter;
    'devices.groups': DeviceGroupNames;
  }
}
