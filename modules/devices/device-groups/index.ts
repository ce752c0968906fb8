/** Device groups: static ones, dynamic ones that follow a filter, and groups as a limit of what users see. */
import { defineModule } from '#core';
import { api } from './api.ts';

export default defineModule({
  name: 'device-groups',
  title: 'Device groups',
  summary: 'Groups of devices: chosen by hand or by a filter, and a limit of what users see',
  requires: ['tenancy', 'devices', 'filters'],
  default: 'on',
  objects: { 'device groups': 'device_groups' },
  api,
});
