/** Runs each minute: what was not decided in time, and what has lost its asker. */
import { defineJob } from '#core';
import { sweepRequests } from '../services/sweeps.ts';

export default defineJob({
  summary: 'Ends requests that were not decided in time, or whose asker is not there any more',
  scope: 'platform',
  schedule: { cron: '* * * * *' },
  maxAttempts: 1,
  run: sweepRequests,
});
