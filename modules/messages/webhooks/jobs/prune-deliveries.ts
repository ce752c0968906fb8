/** Removes deliveries after 30 days, some at a time. */
import { defineJob } from '#core';
import { prune } from '../services/sweeps.ts';

declare module '#core/contract' {
  interface Jobs {
    'webhooks/prune-deliveries': Record<string, never>;
  }
}

export default defineJob({
  summary: 'Removes deliveries that are older than 30 days',
  scope: 'platform',
  schedule: { cron: '23 2 * * *' },
  whenOff: 'what is kept is kept no longer than it should be',
  maxAttempts: 3,
  async run(ctx) {
    if (await prune(ctx)) ctx.addJob('webhooks/prune-deliveries', {}, { orgId: null });
  },
});
