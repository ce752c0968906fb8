/** Removes messages after 90 days, in batches. */
import { defineJob, pruneDeliveries } from '#core';
import { alertChannelQueue } from '../services/sending/queue.ts';

declare module '#core/contract' {
  interface Jobs {
    'alert-channels/prune-messages': Record<string, never>;
  }
}

export default defineJob({
  summary: 'Removes messages to channels that are older than 90 days',
  scope: 'platform',
  schedule: { cron: '53 2 * * *' },
  whenOff: 'what is kept is kept no longer than it should be',
  maxAttempts: 3,
  async run(ctx) {
    if (await pruneDeliveries(ctx, alertChannelQueue)) ctx.addJob('alert-channels/prune-messages', {}, { orgId: null });
  },
});
