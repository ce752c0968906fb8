/** Tags: labels of devices, listed, asked for, given to many at once and renamed. */
import { defineModule } from '#core';

export default defineModule({
  name: 'tags',
  title: 'Tags',
  summary: 'Labels of devices: which there are, who has them, and changing them for many at once',
  requires: ['tenancy', 'devices', 'filters'],
  default: 'on',
});
