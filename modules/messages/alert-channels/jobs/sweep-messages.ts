/** Asks for messages that are due: retries, digests, what waited for quiet hours to end, and what a crash left behind. */
import { defineJob } from '#core';
import { sweepMessages } from '../services/sending/sweeps.ts';

declare module '#core/contract' {
  interface Jobs {
    'alert-channels/sweep-messages': Record<string, never>;
  }
}

export default defineJob({
  summary: 'Asks for messages to channels that are due',
  scope: 'platform',
  schedule: { cron: '* * * * *' },
  maxAttempts: 1,
  run: (ctx) => sweepMessages(ctx),
});
