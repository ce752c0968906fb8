/** Inventory: full snapshots of a machine, each with a hash that lets the server skip an unchanged one. */
import type { HardwareInfo } from './enrollment.ts';

export const SERVICE_STATES = ['running', 'stopped', 'paused', 'starting', 'stopping', 'unknown'] as const;
export type ServiceState = (typeof SERVICE_STATES)[number];
export const SERVICE_START_TYPES = ['auto', 'manual', 'disabled', 'auto_delayed'] as const;
export type ServiceStartType = (typeof SERVICE_START_TYPES)[number];

/** Limits of one snapshot; a longer list is cut and sent without `complete`. */
export const MAX_ADAPTERS = 100;
export const MAX_DISKS = 100;
export const MAX_SOFTWARE = 10_000;
export const MAX_SERVICES = 5_000;

export interface Snapshot {
  /** A hash over the snapshot; the server does not write an equal one again. */
  snapshotHash?: string;
  /** True when the list is complete: only then does an empty list replace a filled one. */
  complete?: boolean;
}

export interface NetworkAdapter {
  name: string;
  mac?: string;
  ipv4: string[];
  ipv6: string[];
  isPrimary: boolean;
  publicIp?: string;
}
export interface DiskUsage {
  mountPoint: string;
  device?: string;
  fsType?: string;
  /** GiB. */
  totalGb?: number;
  usedGb?: number;
  freeGb?: number;
  usedPercent?: number;
  health?: string;
}
export interface SoftwareItem {
  name: string;
  version?: string;
  vendor?: string;
  installDate?: string;
  installLocation?: string;
  uninstallString?: string;
}
export interface ServiceItem {
  name: string;
  displayName?: string;
  state: ServiceState;
  startType?: ServiceStartType;
}

/** The bodies of `PUT /agents/{id}/<kind>`. */
export interface Snapshots {
  hardware: Snapshot & HardwareInfo & { osVersion?: string; osBuild?: string };
  network: Snapshot & { adapters: NetworkAdapter[] };
  disks: Snapshot & { disks: DiskUsage[] };
  software: Snapshot & { software: SoftwareItem[] };
  services: Snapshot & { services: ServiceItem[] };
}
