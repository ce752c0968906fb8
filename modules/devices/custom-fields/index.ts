/** Custom fields: what a tenant wants to note about its devices beyond what the agent reports. */
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
