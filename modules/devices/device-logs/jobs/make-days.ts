/** Creates the daily partitions for the logs of the coming week. */
import { defineJob } from '#core';
import { makeDays } from '../services/retention.ts';

export default defineJob({
  summary: 'Creates the coming partitions of logs',
  scope: 'platform',
  schedule: { cron: '7 * * * *' },
  whenOff: 'old logs can be dropped only by partitions of a day',
  maxAttempts: 5,
  run: (ctx) => makeDays(ctx),
});
