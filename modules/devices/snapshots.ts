/** The snapshots that agents send of their machines (domain/agents, section 8). */

export interface HardwareFields {
  manufacturer?: string | null;
  model?: string | null;
  serialNumber?: string | null;
  motherboardSerial?: string | null;
  cpuModel?: string | null;
  cpuCores?: number | null;
  cpuThreads?: number | null;
  gpuModel?: string | null;
  /** MiB. */
  ramTotalMb?: number | null;
  /** GiB. */
  diskTotalGb?: number | null;
  biosVersion?: string | null;
}

export interface Snapshot {
  /** Hash the agent made over the snapshot; an equal one is not written again. */
  snapshotHash?: string;
  /** True when the list is the whole truth: only then an empty list replaces a filled one. */
  complete?: boolean;
}
export interface HardwareBody extends Snapshot, HardwareFields {
  osVersion?: string | null;
  osBuild?: string | null;
}
export interface NetworkBody extends Snapshot {
  adapters: {
    name: string;
    mac?: string | null;
    ipv4?: string[];
    ipv6?: string[];
    isPrimary?: boolean;
    publicIp?: string | null;
  }[];
}
export interface DisksBody extends Snapshot {
  disks: {
    mountPoint: string;
    device?: string | null;
    fsType?: string | null;
    totalGb?: number | null;
    usedGb?: number | null;
    freeGb?: number | null;
    usedPercent?: number | null;
    health?: string | null;
  }[];
}
export interface SoftwareBody extends Snapshot {
  software: {
    name: string;
    version?: string | null;
    vendor?: string | null;
    installDate?: string | null;
    installLocation?: string | null;
    uninstallString?: string | null;
  }[];
}
export interface ServicesBody extends Snapshot {
  services: { name: string; displayName?: string | null; state: string; startType?: string | null }[];
}
