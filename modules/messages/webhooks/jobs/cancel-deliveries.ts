/** Ends deliveries that will not be sent any more. */
import { defineJob } from '#core';
import { cancelStale } from '../services/sweeps.ts';

export default defineJob({
  summary: 'Cancels what waits for webhooks that were deleted or do not send',
  scope: 'platform',
  schedule: { cron: '* * * * *' },
  whenOff: 'what waits must not be sent later',
  maxAttempts: 1,
  run: (ctx) => cancelStale(ctx),
});
