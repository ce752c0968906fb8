/** Marks silent devices offline, and ends overdue updates and maintenance. */
import { defineJob } from '#core';
import { sweepSilent, sweepUpdating, sweepWatchdogs } from '../services/heartbeats/silences.ts';
import { sweepMaintenance } from '../services/life/maintenance-modes.ts';

export default defineJob({
  summary: 'Marks silent devices offline, and ends overdue updates and maintenance',
  scope: 'platform',
  schedule: { every: 30 },
  maxAttempts: 1,
  async run(ctx) {
    await sweepSilent(ctx);
    await sweepUpdating(ctx);
    await sweepWatchdogs(ctx);
    await sweepMaintenance(ctx);
  },
});
