/** The slot `device-commands.guard`. */
import { defineSlot } from '#core';
import type { CommandGuard } from '../types.ts';

declare module '#core/contract' {
  interface Slots {
    'device-commands.guard': CommandGuard;
  }
}

export default defineSlot<CommandGuard>({
  summary: 'Blocks commands for a device, with the reason',
});
