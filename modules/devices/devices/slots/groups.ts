/** The slot `devices.groups`. */
import { defineSlot } from '#core';
import type { DeviceGroupNames } from '../types/slots.ts';

declare module '#core/contract' {
  interface Slots {
    'devices.groups': DeviceGroupNames;
  }
}

export default defineSlot<DeviceGroupNames>({
  summary: 'Resolves device groups and adds new devices to them',
});
