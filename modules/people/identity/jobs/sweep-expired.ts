/** Deletes ended sessions, temporary tokens and authenticator setups in batches. */
import { defineJob } from '#core';
import { sweepExpired } from '../services/sweeps.ts';

export default defineJob({
  summary: 'Deletes ended sessions, temporary tokens and authenticator setups',
  scope: 'platform',
  schedule: { cron: '23 * * * *' },
  maxAttempts: 3,
  run: (ctx) => sweepExpired(ctx),
});
