/** Removes logs of plugins after 14 days, and beyond 50,000 lines, in batches. */
import { defineJob } from '#core';
import { pruneLogs } from '../services/sweeps.ts';

declare module '#core/contract' {
  interface Jobs {
    'plugins/prune-logs': Record<string, never>;
  }
}

export default defineJob({
  summary: "Removes old lines of plugins' logs",
  scope: 'platform',
  schedule: { cron: '41 2 * * *' },
  whenOff: 'what is kept is kept no longer than it should be',
  maxAttempts: 3,
  async run(ctx) {
    if (await pruneLogs(ctx)) ctx.addJob('plugins/prune-logs', {}, { orgId: null });
  },
});
