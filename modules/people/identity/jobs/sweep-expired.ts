/** Deletes ended sessions, temporary tokens and authenticator setups in batches. */
import { defineJob } from '#core';
import { sweepExpired } from '../services/sweeps.ts';

declare module '#core/contract' {
  interface Jobs {
    'identity/sweep-expired': Record<string, never>;
  }
}

export default defineJob({
  summary: 'Deletes ended sessions, temporary tokens and authenticator setups',
  scope: 'platform',
  schedule: { cron: '23 * * * *' },
  maxAttempts: 1,
  run: (ctx) => sweepExpired(ctx),
});
