/** Roles and permissions: what users may do, and who may assign it. */
import { defineModule } from '#core';
import { api } from './api.ts';

export default defineModule({
  name: 'roles',
  title: 'Roles and permissions',
  summary: 'Built-in and custom roles, what they grant, and who may assign them',
  requires: [],
  core: true,
  api,
});
