/** The enrollment of a device. */
import type { Architecture, OsType } from './device.ts';
import type { HardwareFields } from './snapshots.ts';

export interface EnrollInput {
  orgId: string;
  siteId: string;
  via: 'enrollment_key' | 'provision';
  hostname: string;
  osType: OsType;
  osVersion?: string | null;
  osBuild?: string | null;
  /** Normalized by the caller: amd64 is x64, 386 is x86, aarch64 is arm64. */
  architecture?: Architecture | null;
  agentVersion?: string | null;
  deviceRole?: string | null;
  isVirtual?: boolean | null;
  virtualizationPlatform?: string | null;
  machineId?: string | null;
  hardware?: HardwareFields | null;
  network?: { name: string; mac?: string | null; ip?: string | null; isPrimary?: boolean | null }[] | null;
  /** The address from which the agent calls. */
  ip?: string | null;
  /** The user or API key that created the enrollment key, or the user who provisioned the device. */
  enrolledBy?: string | null;
  /** In their stored form; a device that comes again keeps its own. */
  tags?: readonly string[];
  /** The provisioned row for this machine, from `takeProvision`. It counts against the quota already. */
  pendingDeviceId?: string | null;
  /** The previous device, proven by its token. Ignored if it is in another organization or decommissioned. */
  reattachTo?: string | null;
}
export interface Enrolled {
  deviceId: string;
  agentId: string;
  orgId: string;
  siteId: string;
  hostname: string;
  /** True when an existing row was kept: its earlier credentials must end. */
  reattached: boolean;
}
