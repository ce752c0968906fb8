/** Deletes ended sessions, temporary tokens and authenticator setups in batches. */
import Joi from 'joi';
import { defineJob } from '#core';
import { sweepExpired } from '../services/sweeps.ts';

declare module '#core/contract' {
  interface Jobs {
    'identity/sweep-expired': Record<string, never>;
  }
}

export default defineJob({
  name: 'identity/sweep-expired',
  summary: 'Deletes ended sessions, temporary tokens and authenticator setups',
  scope: 'platform',
  payload: Joi.object<Record<string, never>>({}),
  schedule: { cron: '23 * * * *' },
  maxAttempts: 1,
  run: (ctx) => sweepExpired(ctx),
});
