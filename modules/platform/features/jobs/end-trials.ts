/** Checks trials of modules every hour. */
import { defineJob } from '#core';
import { lookAtTrials } from '../services/trials.ts';

export default defineJob({
  summary: 'Notifies partners about trials that end soon, and ends expired ones',
  scope: 'platform',
  schedule: { cron: '11 * * * *' },
  maxAttempts: 3,
  run: (ctx) => lookAtTrials(ctx),
});
