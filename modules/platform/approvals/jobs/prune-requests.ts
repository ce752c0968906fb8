/** Removes requests that ended a year ago. */
import { defineJob } from '#core';
import { pruneRequests } from '../services/sweeps.ts';

declare module '#core/contract' {
  interface Jobs {
    'approvals/prune-requests': Record<string, never>;
  }
}

export default defineJob({
  summary: 'Removes requests for approval that ended a year ago',
  scope: 'platform',
  schedule: { cron: '50 3 * * *' },
  maxAttempts: 3,
  async run(ctx) {
    if (await pruneRequests(ctx)) ctx.addJob('approvals/prune-requests', {}, { key: 'approvals-prune' });
  },
});
