/** The events of devices, and their data. */
import '#core/contract';

declare module '#core/contract' {
  interface Events {
    'devices.enrolled': {
      hostname: string;
      via: string;
      possibleReplacementOf: string | null;
      /** The device that it may replace reported within the last day: probably a clone. */
      cloneSuspected: boolean;
    };
    'devices.online': { hostname: string };
    'devices.offline': { hostname: string; lastSeenAt: string };
    /** Many devices of an organization went offline at once; their own events follow after three minutes unless they return. */
    'devices.outage': { offline: number; of: number };
    'devices.main_agent_silent': { hostname: string };
    'devices.updated': { changedFields: string[] };
    'devices.decommissioned': { hostname: string; uninstall: boolean };
    'devices.restored': { hostname: string };
    'devices.software.changed': { added: number; removed: number };
    'devices.provisioned': { hostname: string };
    'devices.quarantined': { hostname: string; reason: string };
    'devices.approved': { hostname: string };
    /** Emitted in both organizations: `out` in the one that the device leaves, `in` in the one that it joins. */
    'devices.moved': { hostname: string; direction: 'out' | 'in' };
    /** `deviceId` of the event is the device that remains. */
    'devices.merged': { hostname: string; mergedDeviceId: string };
    /** The row and everything below it are deleted. */
    'devices.purged': { hostname: string };
    'devices.maintenance.started': { hostname: string; until: string };
    'devices.maintenance.ended': { hostname: string };
  }
}
