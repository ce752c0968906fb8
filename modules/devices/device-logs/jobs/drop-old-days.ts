/** Drops daily partitions of logs after their retention. */
import { defineJob } from '#core';
import { dropOldDays } from '../services/retention.ts';

export default defineJob({
  summary: 'Drops old partitions of logs',
  scope: 'platform',
  schedule: { cron: '17 1 * * *' },
  whenOff: 'logs must not be kept longer than their retention',
  maxAttempts: 5,
  run: (ctx) => dropOldDays(ctx),
});
