/** The slot `devices.filter`. */
import { defineSlot } from '#core';
import type { DeviceFilter } from '../types/slots.ts';

declare module '#core/contract' {
  interface Slots {
    'devices.filter': DeviceFilter;
  }
}

export default defineSlot<DeviceFilter>({
  summary: 'Turns a saved filter into a condition for the list of devices',
});
