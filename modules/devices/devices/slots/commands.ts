/** The slot `devices.commands`. */
import { defineSlot } from '#core';
import type { DeviceCommands } from '../types/slots.ts';

declare module '#core/contract' {
  interface Slots {
    'devices.commands': DeviceCommands;
  }
}

export default defineSlot<DeviceCommands>({
  summary: 'Keeps the commands for devices',
});
