/** The slot `devices.metrics`: the module that keeps the metrics of heartbeats. */
import { type Context, defineSlot } from '#core';

export interface DeviceMetrics {
  /**
   * SQL that inserts the samples of a group commit, as part of the heartbeat statement. It reads `b`, one row for each heartbeat
   * with `device_id`, `at` and `metrics` (jsonb with the fields of HeartbeatMetrics, null when absent), joined with `old`, the
   * known devices with `device_id` and `org_id`.
   */
  insertSamples: string;
  /** The samples of the last 24 hours, for GET /devices/{id}. */
  readRecent(ctx: Context, deviceId: string): Promise<object[]>;
}

declare module '#core/contract' {
  interface Slots {
    'devices.metrics': DeviceMetrics;
  }
}

export default defineSlot<DeviceMetrics>({
  summary: 'Keeps the metrics of heartbeats',
});
