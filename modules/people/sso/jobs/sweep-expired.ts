/** Removes logins that were not finished, in batches. */
import { defineJob } from '#core';
import { sweepExpired } from '../services/sweeps.ts';

export default defineJob({
  summary: 'Removes SSO logins that were not finished',
  scope: 'platform',
  schedule: { cron: '41 * * * *' },
  whenOff: 'what was begun must not stay',
  maxAttempts: 3,
  run: (ctx) => sweepExpired(ctx),
});
