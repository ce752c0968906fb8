/** The slot anchor.guard. */
import { defineSlot } from '#core';

declare module '#core/contract' {
  interface Slots {
    'anchor.guard': { word: string };
  }
}

export default defineSlot<{ word: string }>({ summary: 'For tests of switching', steady: true });
