/** The snapshots that agents send of their machines. */

export const REPORT_KINDS = ['patches', 'security', 'sessions', 'connections', 'processes'] as const;
export type ReportKind = (typeof REPORT_KINDS)[number];
/** What an agent sampled: in one part, or in one for each source that it looked at; others are left as they are. */
export interface Report {
  kind: ReportKind;
  parts: { source?: string; body: object }[];
  /** An equal one is not written again. */
  snapshotHash?: string;
  /** False for lists that were cut, or are empty by themselves: they replace nothing that is known. */
  whole: boolean;
}
/** A custom value that a script may not write so. */
export interface ValueFault {
  key: string;
  code: string;
  message: string;
}

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

/** What agents sample and find out: part of `ctx.use('devices')`. */
export interface ReportsApi {
  /** The latest of each kind; changed: false where all of it is known. */
  submitReport(deviceId: string, report: Report): Promise<{ changed: boolean }>;
  /** The machine's own addresses as of now. */
  noteAddresses(deviceId: string, addresses: readonly string[]): Promise<void>;
  /** What scripts may write of custom fields: each key by itself. */
  writeAgentValues(
    deviceId: string,
    values: Record<string, unknown>,
  ): Promise<{ updated: string[]; failed: ValueFault[] }>;
}
