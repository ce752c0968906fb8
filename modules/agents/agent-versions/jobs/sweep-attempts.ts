/** Ends update attempts that came to a standstill. */
import { defineJob } from '#core';
import { sweepAttempts } from '../services/rollout/sweeps.ts';

declare module '#core/contract' {
  interface Jobs {
    'agent-versions/sweep-attempts': Record<string, never>;
  }
}

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
