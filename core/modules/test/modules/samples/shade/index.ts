/** A module that requires another and is off for those who have not said. */
import { defineModule } from '#core';

export default defineModule({
  name: 'shade',
  title: 'Shade',
  summary: 'For tests of switching',
  requires: ['lamp'],
  default: 'off',
});
