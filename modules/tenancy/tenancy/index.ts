/** Partners, organizations and sites: who owns what, and how far callers reach. */
import { defineModule } from '#core';
import { api } from './api.ts';

export default defineModule({
  name: 'tenancy',
  title: 'Organizations and sites',
  summary: 'Partners, organizations and sites, and who reaches them',
  requires: [],
  core: true,
  api,
});
