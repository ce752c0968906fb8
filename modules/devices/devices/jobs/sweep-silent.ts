/** Marks silent devices offline, and ends updates and maintenance whose time is over. */
import { defineJob } from '#core';
import { sweepSilent, sweepUpdating, sweepWatchdogs } from '../services/heartbeats/silences.ts';
import { sweepMaintenance } from '../services/life/maintenance-modes.ts';

export default defineJob({
  summary: 'Marks silent devices offline, and ends updates and maintenance whose time is over',
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
