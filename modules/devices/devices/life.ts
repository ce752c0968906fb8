/** What other modules may ask of the life of devices, and follow: part of `ctx.use('devices')`. */
import type { OsType } from './api.ts';

/** A provisioned device that waits for its machine, or why the token does not open it. */
export type Provision =
  | { deviceId: string; orgId: string; siteId: string }
  | { deviceId: string; orgId: string; refused: 'expired' | 'used' | 'os_differs' };

export interface LifecycleApi {
  /**
   * Uses up the token of POST /devices/provision; null when it is none. In the caller's transaction: undone with it.
   * Needs the platform role.
   */
  takeProvision(token: string, osType: OsType): Promise<Provision | null>;
  /**
   * Nothing but its heartbeat is answered until somebody approves the device; what waits for it is cancelled. False when
   * it is not active.
   */
  quarantine(deviceId: string, reason: string): Promise<boolean>;
  /** The agent says that it is being removed by hand; false when it has said so before. */
  noteUninstallIntent(deviceId: string): Promise<boolean>;
  /** Devices that count against an organization's limits, by organization. Platform role. */
  countDevices(orgIds: readonly string[]): Promise<Map<string, number>>;
}

declare module '#core/contract' {
  interface Events {
    'devices.provisioned': { hostname: string };
    'devices.quarantined': { hostname: string; reason: string };
    'devices.approved': { hostname: string };
    /** Told in both organizations: `out` in the one it leaves, `in` in the one it joins. */
    'devices.moved': { hostname: string; direction: 'out' | 'in' };
    /** `deviceId` of the event is the device that stays. */
    'devices.merged': { hostname: string; mergedDeviceId: string };
    /** The row and all that hung below it are gone. */
    'devices.purged': { hostname: string };
    'devices.maintenance.started': { hostname: string; until: string };
    'devices.maintenance.ended': { hostname: string };
  }
}
