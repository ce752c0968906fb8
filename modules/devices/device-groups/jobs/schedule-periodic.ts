/** Lays out the evaluations of groups whose filter asks for times or for what heartbeats change. */
import { defineJob } from '#core';
import { schedulePeriodic } from '../services/evaluating/schedules.ts';

export default defineJob({
  summary: 'Lays out the evaluations that no change of a device announces',
  scope: 'platform',
  schedule: { cron: '*/5 * * * *' },
  maxAttempts: 1,
  run: (ctx) => schedulePeriodic(ctx),
});
