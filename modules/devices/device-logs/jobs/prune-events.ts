/** Removes counted events that have not recurred within their retention. */
import { defineJob } from '#core';
import { pruneEvents } from '../services/retention.ts';

export default defineJob({
  summary: 'Removes events that no longer recur',
  scope: 'platform',
  schedule: { cron: '37 * * * *' },
  whenOff: 'logs must not be kept longer than their retention',
  maxAttempts: 5,
  run: (ctx) => pruneEvents(ctx),
});
