/** Targets: which devices something is for, and who they are now. */
import { defineModule } from '#core';
import { api } from './api.ts';

export default defineModule({
  name: 'targets',
  title: 'Targets',
  summary: 'Which devices something is for: all, by organization, site, group, tag or filter, with exclusions',
  requires: ['devices', 'device-groups', 'filters'],
  default: 'on',
  api,
});
