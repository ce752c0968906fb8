/** The hourly look at trials. */
import { defineJob } from '#core';
import { lookAtTrials } from '../services/trials.ts';

export default defineJob({
  summary: 'Tells partners that trials of modules end, and ends them',
  scope: 'platform',
  schedule: { cron: '11 * * * *' },
  maxAttempts: 3,
  run: (ctx) => lookAtTrials(ctx),
});
