/** The slot `devices.values`. */
import { defineSlot } from '#core';
import type { DeviceValues } from '../types/slots.ts';

declare module '#core/contract' {
  interface Slots {
    'devices.values': DeviceValues;
  }
}

export default defineSlot<DeviceValues>({
  summary: 'Validates custom values of devices',
});
