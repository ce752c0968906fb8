/** A module that can be switched off, with one of everything that must go with it. */
import { defineModule } from '#core';

export default defineModule({
  name: 'lamp',
  title: 'Lamp',
  summary: 'For tests of switching',
  requires: ['anchor'],
});
