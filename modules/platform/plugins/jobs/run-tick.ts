/** Runs each minute: due schedules, steps that never ended, queues that grew too long. */
import { defineJob } from '#core';
import { tickSchedules } from '../services/dispatch/schedules.ts';
import { sweepSteps, trimQueues } from '../services/sweeps.ts';

export default defineJob({
  summary: 'Hands due schedules to plugins, and puts right what stands still',
  scope: 'platform',
  schedule: { cron: '* * * * *' },
  maxAttempts: 1,
  async run(ctx) {
    await tickSchedules(ctx);
    await sweepSteps(ctx);
    await trimQueues(ctx);
  },
});
