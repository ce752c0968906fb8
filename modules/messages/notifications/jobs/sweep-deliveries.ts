/** Asks for what is due: retries, digests, what waited for the end of quiet hours, and what a crash left behind. */
import { defineJob } from '#core';
import { sweepDeliveries } from '../services/delivery/sweeps.ts';

declare module '#core/contract' {
  interface Jobs {
    'notifications/sweep-deliveries': Record<string, never>;
  }
}

export default defineJob({
  summary: 'Asks for notices that are due to be mailed or pushed',
  scope: 'platform',
  schedule: { cron: '* * * * *' },
  maxAttempts: 1,
  run: (ctx) => sweepDeliveries(ctx),
});
