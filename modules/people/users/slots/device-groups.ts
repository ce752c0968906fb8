/** The slot `users.device-groups`. */
import { defineSlot } from '#core';
import type { DeviceGroupDirectory } from '../models/limits.ts';

declare module '#core/contract' {
  interface Slots {
    'users.device-groups': DeviceGroupDirectory;
  }
}

export default defineSlot<DeviceGroupDirectory>({
  summary: 'Resolves the device groups to which users are limited',
  steady: true,
});
