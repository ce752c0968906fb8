/** The slot `device-commands.command`. */
import { defineSlot } from '#core';
import type { CommandOwner } from '../types.ts';

declare module '#core/contract' {
  interface Slots {
    'device-commands.command': CommandOwner;
  }
}

export default defineSlot<CommandOwner>({
  summary: 'Prepares commands of the types that a module owns, and receives their results',
  steady: true,
});
