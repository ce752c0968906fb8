/** The slot `devices.follower`. */
import { defineSlot } from '#core';
import type { DeviceFollower } from '../types/slots.ts';

declare module '#core/contract' {
  interface Slots {
    'devices.follower': DeviceFollower;
  }
}

export default defineSlot<DeviceFollower>({
  summary: 'Updates rows about a device that is moved, merged or purged',
  steady: true,
});
