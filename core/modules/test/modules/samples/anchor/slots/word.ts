/** The slot anchor.word. */
import { defineSlot } from '#core';

declare module '#core/contract' {
  interface Slots {
    'anchor.word': { word: string };
  }
}

export default defineSlot<{ word: string }>({ summary: 'For tests of switching' });
