/** Drops old days of metrics and prunes other history. */
import { defineJob } from '#core';
import { dropOldMetrics, pruneHistory } from '../services/retention.ts';

export default defineJob({
  summary: 'Drops old days of metrics and prunes other history',
  scope: 'platform',
  schedule: { cron: '17 2 * * *' },
  maxAttempts: 5,
  async run(ctx) {
    await dropOldMetrics(ctx);
    await pruneHistory(ctx);
  },
});
