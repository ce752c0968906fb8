/** Makes the daily tables into which the logs of the coming week will fall. */
import { defineJob } from '#core';
import { makeDays } from '../services/retention.ts';

export default defineJob({
  summary: 'Makes the coming days of logs',
  scope: 'platform',
  schedule: { cron: '7 * * * *' },
  whenOff: 'what is kept is kept no longer than it should be',
  maxAttempts: 5,
  run: (ctx) => makeDays(ctx),
});
