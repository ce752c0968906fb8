/** Schedules the evaluation of groups whose filters use times or values that every heartbeat changes. */
import { defineJob } from '#core';
import { schedulePeriodic } from '../services/evaluating/schedules.ts';

export default defineJob({
  summary: 'Schedules evaluations of groups whose filters use times or values that every heartbeat changes',
  scope: 'platform',
  schedule: { cron: '*/5 * * * *' },
  maxAttempts: 1,
  run: (ctx) => schedulePeriodic(ctx),
});
