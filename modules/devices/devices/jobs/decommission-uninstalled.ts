/** Decommissions devices whose agent said goodbye a day ago, where their organization wants that. */
import { defineJob } from '#core';
import { decommissionUninstalled } from '../services/life/uninstalls.ts';

export default defineJob({
  summary: 'Decommissions devices whose agent said goodbye a day ago',
  scope: 'platform',
  schedule: { cron: '37 * * * *' },
  maxAttempts: 3,
  run: decommissionUninstalled,
});
