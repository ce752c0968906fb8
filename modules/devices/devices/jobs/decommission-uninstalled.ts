/** Decommissions devices whose agent was uninstalled a day ago, if their organization has set so. */
import { defineJob } from '#core';
import { decommissionUninstalled } from '../services/life/uninstalls.ts';

export default defineJob({
  summary: 'Decommissions devices whose agent was uninstalled a day ago',
  scope: 'platform',
  schedule: { cron: '37 * * * *' },
  maxAttempts: 3,
  run: decommissionUninstalled,
});
