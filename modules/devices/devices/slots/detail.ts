/** The slot `devices.detail`. */
import { defineSlot } from '#core';
import type { DeviceDetail } from '../types/slots.ts';

declare module '#core/contract' {
  interface Slots {
    'devices.detail': DeviceDetail;
  }
}

export default defineSlot<DeviceDetail>({
  summary: 'Adds a field to the details of devices',
});
