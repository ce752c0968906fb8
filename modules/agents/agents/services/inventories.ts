/** Passes the snapshots of a machine to the devices module. */
import type { Context } from '#core';
import type { Apis } from '#core/contract';
import { callingDevice } from './commands.ts';

type Devices = Apis['devices'];
type Body<K extends keyof Devices> = Devices[K] extends (id: string, body: infer B) => unknown ? B : never;
export type SnapshotKind = 'hardware' | 'network' | 'disks' | 'software' | 'services';

/** `body` has been validated by the schema of its kind. */
export function submitSnapshot(ctx: Context, kind: SnapshotKind, body: object): Promise<{ changed: boolean }> {
  const devices = ctx.use('devices');
  const deviceId = callingDevice(ctx);
  switch (kind) {
    case 'hardware':
      return devices.submitHardware(deviceId, body as Body<'submitHardware'>);
    case 'network':
      return devices.submitNetwork(deviceId, body as Body<'submitNetwork'>);
    case 'disks':
      return devices.submitDisks(deviceId, body as Body<'submitDisks'>);
    case 'software':
      return devices.submitSoftware(deviceId, body as Body<'submitSoftware'>);
    case 'services':
      return devices.submitServices(deviceId, body as Body<'submitServices'>);
  }
}
