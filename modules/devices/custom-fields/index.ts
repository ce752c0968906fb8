/** Custom fields: a tenant's own data about its devices, in addition to what the agent reports. */
import { defineModule } from '#core';
import { api } from './api.ts';

export default defineModule({
  name: 'custom-fields',
  title: 'Custom fields',
  summary: "A tenant's own fields on its devices",
  requires: [],
  default: 'on',
  objects: { 'custom fields': 'custom_fields' },
  api,
});
