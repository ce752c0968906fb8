/** What other modules may ask of devices: `ctx.use('devices')`. Its events are in types/events.ts, its slots in types/slots.ts. */
import type { Device, DeviceIdentity, HeldDevice, LockStrength, OsType } from './types/device.ts';
import type { Enrolled, EnrollInput, Provision } from './types/enrollment.ts';
import type { Heartbeat, HeartbeatResponse } from './types/heartbeat.ts';
import type { DevicePage, DevicePageQuery, TagChange, TagOutcome } from './types/lists.ts';
import type { DeviceCondition } from './types/slots.ts';
import type {
  DisksBody,
  HardwareBody,
  NetworkBody,
  Report,
  ServicesBody,
  SoftwareBody,
  ValueFault,
} from './types/snapshots.ts';

interface LifecycleApi {
  /**
   * Enrolls a device: quota, rows, audit `device.create` {via}, event `devices.enrolled`. Needs the platform role and runs in the
   * caller's transaction. Throws 403 DEVICE_LIMIT_REACHED, and 403 DEVICE_QUARANTINED when the previous device is quarantined.
   */
  enroll(input: EnrollInput): Promise<Enrolled>;
  /**
   * Uses the token of POST /devices/provision; null for an unknown token. Undone with the caller's transaction. Needs the platform
   * role.
   */
  takeProvision(token: string, osType: OsType): Promise<Provision | null>;
  /**
   * Quarantines an active device: only its heartbeats are accepted until it is approved, and waiting commands are cancelled.
   * Returns false when the device is not active.
   */
  quarantine(deviceId: string, reason: string): Promise<boolean>;
  /** Records that the agent is being removed by hand; false when it was recorded before. */
  noteUninstallIntent(deviceId: string): Promise<boolean>;
  /** Records that the agent has removed itself. */
  confirmUninstall(deviceId: string): Promise<void>;
  /** The number of devices that count against limits, by organization. Platform role. */
  countDevices(orgIds: readonly string[]): Promise<Map<string, number>>;
}

interface StateApi {
  /** Records a heartbeat, in a group commit of up to 500. Throws 410 DEVICE_GONE for a purged device. */
  heartbeat(input: Heartbeat): Promise<HeartbeatResponse>;
  isOnline(deviceId: string): Promise<boolean>;
  /** The device shows `updating` for at most five minutes, or until it reports that version. */
  beginUpdate(deviceId: string, targetVersion: string): Promise<void>;
  /** The update to that version has failed: the device no longer shows `updating`. */
  endUpdate(deviceId: string, targetVersion: string): Promise<void>;
  /** Stores whether agents should update themselves; unconfirmed until they report the same. For devices that are locked. */
  wishAutoUpdate(deviceIds: readonly string[], enabled: boolean): Promise<void>;
  /** Confirms the setting that an agent reports, unless the wish has changed. */
  confirmAutoUpdate(deviceId: string, enabled: boolean): Promise<void>;
}

interface InventoryApi {
  submitHardware(deviceId: string, body: HardwareBody): Promise<{ changed: boolean }>;
  submitNetwork(deviceId: string, body: NetworkBody): Promise<{ changed: boolean }>;
  submitDisks(deviceId: string, body: DisksBody): Promise<{ changed: boolean }>;
  submitSoftware(deviceId: string, body: SoftwareBody): Promise<{ changed: boolean }>;
  submitServices(deviceId: string, body: ServicesBody): Promise<{ changed: boolean }>;
  /** Stores the latest report of each kind; changed: false when all of it is known. */
  submitReport(deviceId: string, report: Report): Promise<{ changed: boolean }>;
  /** Records the current addresses of the machine. */
  noteAddresses(deviceId: string, addresses: readonly string[]): Promise<void>;
  /** Writes custom fields that scripts can write, each key by itself. */
  writeAgentValues(
    deviceId: string,
    values: Record<string, unknown>,
  ): Promise<{ updated: string[]; failed: ValueFault[] }>;
  /** MAC addresses and IPv4 subnets (the first three octets) of a device, and whether it has IPv6 addresses. */
  readAddresses(deviceId: string): Promise<{ macs: string[]; subnets: string[]; ipv6: boolean }>;
  /** The online device of the same site and one of the subnets that reported last, of those visible to the caller. */
  findNeighbour(
    device: Pick<Device, 'id' | 'orgId' | 'siteId'>,
    subnets: readonly string[],
  ): Promise<{ id: string; subnet: string } | null>;
}

interface ListsApi {
  /** Identities for authentication; unknown devices are left out. Platform role. */
  identify(deviceIds: string[]): Promise<DeviceIdentity[]>;
  /** The device if the caller can see it; throws 404 otherwise. */
  mustExist(id: string): Promise<Device>;
  /** Like `mustExist`, and locks the device until the unit of work ends (`share` when absent). */
  hold(id: string, strength?: LockStrength): Promise<Device>;
  /** Locks devices of the caller's tenant in the order of their ids; unknown ones are left out. */
  holdMany(ids: readonly string[], strength: LockStrength): Promise<HeldDevice[]>;
  /**
   * A page of GET /devices by host name, narrowed by a condition whose parameters begin at `$first`. Throws the errors of that
   * route.
   */
  listPage(
    query: DevicePageQuery,
    narrow: (first: number) => DeviceCondition | Promise<DeviceCondition>,
  ): Promise<DevicePage>;
}

interface TagsApi {
  /** The stored form of any text, for queries: lower case, one space between words. */
  tagKey(text: string): string;
  /** The stored form of tags to be written. Throws VALIDATION_ERROR with the path of each invalid tag. */
  checkedTags(given: readonly string[], path: string): string[];
  /** Changes tags of devices that the caller can see; others fail as NOT_FOUND. Writes audit entries and events. */
  changeTags(deviceIds: readonly string[], change: TagChange): Promise<TagOutcome>;
  /** Renames a tag on all devices of the organization, visible or not; both in stored form. Writes no audit entries or events. */
  renameTag(orgId: string, from: string, to: string): Promise<number>;
}

export interface DevicesApi extends LifecycleApi, StateApi, InventoryApi, ListsApi, TagsApi {}

/**
 * Notices (ctx.notify, StartServices.onNotice): `devices.changed` with the id of the device after every change of its lifecycle.
 */
declare module '#core/contract' {
  interface Apis {
    devices: DevicesApi;
  }
}
