/** Starts the purge of devices that were decommissioned over thirty days ago. */
import { defineJob } from '#core';
import { sweepPurges } from '../services/life/purges.ts';

export default defineJob({
  summary: 'Starts the purge of devices that were decommissioned over thirty days ago',
  scope: 'platform',
  schedule: { cron: '41 2 * * *' },
  maxAttempts: 10,
  run: sweepPurges,
});
