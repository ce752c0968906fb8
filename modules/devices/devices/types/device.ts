/** A device and its identity, as other modules see them. */

export type Lifecycle = 'pending' | 'active' | 'quarantined' | 'decommissioned';
export type OsType = 'windows' | 'macos' | 'linux';
export type Architecture = 'x64' | 'x86' | 'arm64';

/** The slowly changing row of a device. */
export interface Device {
  id: string;
  orgId: string;
  siteId: string;
  agentId: string | null;
  hostname: string;
  displayName: string | null;
  osType: OsType;
  osVersion: string | null;
  osBuild: string | null;
  architecture: Architecture | null;
  deviceRole: string;
  deviceRoleSource: 'agent' | 'manual';
  lifecycle: Lifecycle;
  agentVersion: string | null;
  autoUpdateEnabled: boolean;
  autoUpdateConfirmedAt: Date | null;
  enrolledAt: Date | null;
  tags: string[];
  customFields: Record<string, unknown>;
  maintenanceUntil: Date | null;
  decommissionedAt: Date | null;
  uninstallRequestedAt: Date | null;
  possibleReplacementOfDeviceId: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** What the authentication of an agent needs to know about its device. */
export interface DeviceIdentity {
  deviceId: string;
  agentId: string | null;
  orgId: string;
  siteId: string;
  partnerId: string;
  hostname: string;
  lifecycle: Lifecycle;
  decommissionedAt: Date | null;
  uninstallRequestedAt: Date | null;
  orgActive: boolean;
  partnerActive: boolean;
}

/** Row lock that is held until the unit of work ends. */
export type LockStrength = 'share' | 'no key update';

/** A locked device of a tenant that the caller reaches; its sites and groups may exclude the caller. */
export interface HeldDevice {
  id: string;
  orgId: string;
  siteId: string;
  hostname: string;
  lifecycle: Lifecycle;
  /** In one of the caller's sites. */
  inSite: boolean;
  /** In one of the caller's device groups. */
  inGroup: boolean;
  online: boolean;
}
