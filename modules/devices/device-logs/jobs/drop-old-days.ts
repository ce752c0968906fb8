/** Drops the days of logs that are past their retention. */
import { defineJob } from '#core';
import { dropOldDays } from '../services/retention.ts';

export default defineJob({
  summary: 'Drops old days of logs',
  scope: 'platform',
  schedule: { cron: '17 1 * * *' },
  whenOff: 'what is kept is kept no longer than it should be',
  maxAttempts: 5,
  run: (ctx) => dropOldDays(ctx),
});
