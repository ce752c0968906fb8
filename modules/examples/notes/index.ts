/** Notes on devices: the smallest complete module, made to be copied. It is not part of the product. */
import { defineModule } from '#core';

export default defineModule({
  name: 'notes',
  title: 'Notes',
  summary: 'Notes that technicians leave on devices',
  requires: ['devices', 'search'],
});
