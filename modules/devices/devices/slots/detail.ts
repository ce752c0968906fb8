/** The slot `devices.detail`: adds a field to `GET /devices/{id}` and to the export of many devices. */
import { type Context, defineSlot } from '#core';

export interface DeviceDetail {
  key: string;
  /** Values by device id; absent ones become null. Takes a fixed number of statements, regardless of the number of devices. */
  readMany(ctx: Context, deviceIds: readonly string[]): Promise<Map<string, unknown>>;
}

declare module '#core/contract' {
  interface Slots {
    'devices.detail': DeviceDetail;
  }
}

export default defineSlot<DeviceDetail>({
  summary: 'Adds a field to the details of devices',
});
