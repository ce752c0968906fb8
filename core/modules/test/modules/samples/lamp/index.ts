/** A module that can be switched off, with one of everything that must go with it. */
import { defineModule } from '#core';

declare module '#core/contract' {
  interface Events {
    'lamp.lit': { text: string };
  }
}

export default defineModule({
  name: 'lamp',
  title: 'Lamp',
  summary: 'For tests of switching',
  requires: ['anchor'],
  events: ['lamp.lit'],
});
