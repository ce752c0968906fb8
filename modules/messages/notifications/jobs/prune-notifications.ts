/** Removes notices that were read 30 days ago, and all after 90, some at a time. */
import { defineJob } from '#core';
import { prune } from '../services/inbox/retention.ts';

declare module '#core/contract' {
  interface Jobs {
    'notifications/prune-notifications': Record<string, never>;
  }
}

export default defineJob({
  summary: 'Removes notices read 30 days ago, and all after 90 days',
  scope: 'platform',
  schedule: { cron: '41 2 * * *' },
  whenOff: 'what is kept is kept no longer than it should be',
  maxAttempts: 3,
  async run(ctx) {
    if (await prune(ctx)) ctx.addJob('notifications/prune-notifications', {}, { orgId: null });
  },
});
