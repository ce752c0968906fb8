/** The slot `device-commands.guard`: modules that block commands for some devices, as during a maintenance window. */
import { type Context, defineSlot } from '#core';

export interface CommandGuard {
  /** The devices that must not receive a command of this type now. */
  blocked(ctx: Context, deviceIds: readonly string[], type: string): Promise<readonly string[]>;
}

declare module '#core/contract' {
  interface Slots {
    'device-commands.guard': CommandGuard;
  }
}

export default defineSlot<CommandGuard>({
  summary: 'Names the devices that must not receive a command of a type now',
});
