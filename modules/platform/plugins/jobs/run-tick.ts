/** Runs each minute: steps that never ended, queues that grew too long. */
import { defineJob } from '#core';
import { sweepSteps, trimQueues } from '../services/sweeps.ts';

export default defineJob({
  summary: 'Puts right what stands still',
  scope: 'platform',
  schedule: { cron: '* * * * *' },
  maxAttempts: 1,
  async run(ctx) {
    await sweepSteps(ctx);
    await trimQueues(ctx);
  },
});
