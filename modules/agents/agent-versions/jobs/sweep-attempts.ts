/** Ends update attempts that make no progress. */
import { defineJob } from '#core';
import { sweepAttempts } from '../services/rollout/sweeps.ts';

export default defineJob({
  summary: 'Ends update attempts that make no progress',
  scope: 'platform',
  schedule: { cron: '* * * * *' },
  whenOff: 'attempts in progress still have to end',
  maxAttempts: 1,
  async run(ctx) {
    await sweepAttempts(ctx);
  },
});
