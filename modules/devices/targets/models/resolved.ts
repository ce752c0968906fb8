/** A target's devices, and in whose name they are looked up. */

/** Exactly one of them: the devices of an organization, or of all organizations of a partner. */
export interface TargetOwner {
  orgId: string | null;
  partnerId: string | null;
}

export interface TargetDevice {
  id: string;
  orgId: string;
  siteId: string;
}

export interface TargetPreview {
  count: number;
  /** The first 20 by host name. */
  devices: { id: string; hostname: string; orgId: string; siteId: string }[];
  /** Devices that the target names and that are left out, by reason. */
  skipped: Record<'excluded' | 'decommissioned' | 'pending' | 'quarantined', number>;
}
