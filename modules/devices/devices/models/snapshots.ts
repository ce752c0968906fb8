/** The snapshots and reports that agents send about their machines. */
import type { HardwareInfo, NetworkAdapter, Received, Snapshot, Snapshots } from '#agent-protocol';

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

export type HardwareFields = HardwareInfo;
export type HardwareBody = Snapshots['hardware'];
export interface NetworkBody extends Snapshot {
  adapters: (Pick<NetworkAdapter, 'name'> & Received<NetworkAdapter>)[];
}
export type DisksBody = Snapshots['disks'];
export type SoftwareBody = Snapshots['software'];
export type ServicesBody = Snapshots['services'];
