/** The slot `devices.metrics`. */
import { defineSlot } from '#core';
import type { DeviceMetrics } from '../types/slots.ts';

declare module '#core/contract' {
  interface Slots {
    'devices.metrics': DeviceMetrics;
  }
}

export default defineSlot<DeviceMetrics>({
  summary: 'Keeps the metrics of heartbeats',
});
