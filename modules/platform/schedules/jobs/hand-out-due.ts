/** Runs each minute: what has come round. */
import { defineJob } from '#core';
import { handOutDue } from '../services/due.ts';

export default defineJob({
  summary: 'Hands out what has come round of the schedules of other modules',
  scope: 'platform',
  schedule: { cron: '* * * * *' },
  maxAttempts: 1,
  run: handOutDue,
});
