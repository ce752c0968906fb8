/** Drops old days of metrics. */
import { defineJob } from '#core';
import { dropOldMetrics } from '../services/retention.ts';

export default defineJob({
  summary: 'Drops old days of metrics',
  scope: 'platform',
  schedule: { cron: '17 2 * * *' },
  maxAttempts: 5,
  run: dropOldMetrics,
});
