/** A module that cannot be switched off: it tells, asks its slots, and lets jobs in. */
import { defineModule } from '#core';

export default defineModule({
  name: 'anchor',
  title: 'Anchor',
  summary: 'For tests of switching',
  requires: [],
  core: true,
});
