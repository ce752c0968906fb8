/** Ends update attempts that came to a standstill. */
import { defineJob } from '#core';
import { sweepAttempts } from '../services/rollout/sweeps.ts';

export default defineJob({
  summary: 'Ends update attempts that came to a standstill',
  scope: 'platform',
  schedule: { cron: '* * * * *' },
  whenOff: 'attempts that are under way come to an end',
  maxAttempts: 1,
  async run(ctx) {
    await sweepAttempts(ctx);
  },
});
