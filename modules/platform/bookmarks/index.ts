/** Bookmarks on devices: the smallest complete module, made to be copied. It is not part of the product. */
import { defineModule } from '#core';

export default defineModule({
  name: 'bookmarks',
  title: 'Bookmarks',
  summary: 'Bookmarks that technicians leave on devices',
  requires: ['devices', 'search'],
});
