/** The slot `devices.values`: validates custom values of a device. */
import { type Context, defineSlot } from '#core';

export interface DeviceValues {
  /** Returns the values in their stored form; null removes a value. */
  check(
    ctx: Context,
    device: { orgId: string; osType: string; timeZone: string },
    values: Record<string, unknown>,
    /** Users when absent. Scripts can write other fields, and give all values as text. */
    by?: 'user' | 'script',
  ): Promise<Record<string, unknown>>;
}

declare module '#core/contract' {
  interface Slots {
    'devices.values': DeviceValues;
  }
}

export default defineSlot<DeviceValues>({
  summary: 'Validates custom values of devices',
});
