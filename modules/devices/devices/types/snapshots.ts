/** The snapshots and reports that agents send about their machines. */

export const REPORT_KINDS = ['patches', 'security', 'sessions', 'connections', 'processes'] as const;
export type ReportKind = (typeof REPORT_KINDS)[number];
/** A sample of an agent: in one part, or in one for each source that it queried; other sources remain unchanged. */
export interface Report {
  kind: ReportKind;
  parts: { source?: string; body: object }[];
  /** An equal report is not written again. */
  snapshotHash?: string;
  /** False for truncated and for empty lists: they do not replace what is stored. */
  whole: boolean;
}
/** A custom value that a script cannot write, and why. */
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
  /** Hash of the snapshot, computed by the agent; an equal snapshot is not written again. */
  snapshotHash?: string;
  /** True when the list is complete: only then does an empty list replace a stored one. */
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
