/** The slot `devices.filter`: turns a saved filter into a condition for the list of devices. */
import { type Context, defineSlot } from '#core';

export interface DeviceCondition {
  where: string;
  params: unknown[];
  joins: readonly { alias: string; sql: string }[];
  /** The condition explicitly asks for decommissioned devices. */
  removed: boolean;
  /** Runs a statement with this condition under the time limit for filters. */
  limited<T>(run: () => Promise<T>): Promise<T>;
}

export interface DeviceFilter {
  /** Throws 404 for a filter out of reach. `where` refers to `devices d` and `joins`; its parameters begin at `$first`. */
  condition(ctx: Context, filterId: string, first: number): Promise<DeviceCondition>;
}

declare module '#core/contract' {
  interface Slots {
    'devices.filter': DeviceFilter;
  }
}

export default defineSlot<DeviceFilter>({
  summary: 'Turns a saved filter into a condition for the list of devices',
});
