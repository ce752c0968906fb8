/** A module that lets tests see what core does around a feature. */
import { defineModule } from '#core';

declare module '#core/contract' {
  interface Jobs {
    'probe/note': { text: string };
  }
}

export default defineModule({
  name: 'probe',
  title: 'Probe',
  summary: 'For tests of core',
  requires: [],
});
