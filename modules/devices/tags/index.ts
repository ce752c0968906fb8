/** Tags: labels of devices, which can be listed, searched, changed on many devices and renamed. */
import { defineModule } from '#core';

export default defineModule({
  name: 'tags',
  title: 'Tags',
  summary: 'Labels of devices: lists of tags and of their devices, and changes of many devices at once',
  requires: ['tenancy', 'devices', 'filters'],
  default: 'on',
});
