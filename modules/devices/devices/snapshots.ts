/** The snapshots that agents send of their machines. */
import type { HardwareInfo, NetworkAdapter, Received, Snapshot, Snapshots } from '#agent-protocol';

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

export type HardwareFields = HardwareInfo;
export type HardwareBody = Snapshots['hardware'];
export interface NetworkBody extends Snapshot {
  adapters: (Pick<NetworkAdapter, 'name'> & Received<NetworkAdapter>)[];
}
export type DisksBody = Snapshots['disks'];
export type SoftwareBody = Snapshots['software'];
export type ServicesBody = Snapshots['services'];

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
