/** The slot `devices.values`: validates custom values of a device, and says what readers see of them. */
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
  /**
   * SQL over `devices d` and `organizations o`: the values that readers see, with defaults where none is set, as an object by
   * key; null without any. @param inList only those that lists show
   */
  seen(options: { inList: boolean }): string;
  /** The fields whose values the search of the list looks at: each by its owner, an organization or a partner, and its key. */
  searchable(ctx: Context): Promise<{ owner: string; key: string }[]>;
}

declare module '#core/contract' {
  interface Slots {
    'devices.values': DeviceValues;
  }
}

export default defineSlot<DeviceValues>({
  summary: 'Validates custom values of devices and shows them with their defaults',
});
