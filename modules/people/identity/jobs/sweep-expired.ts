/** Removes sessions, temporary tokens and setups that ended, a bounded number at a time. */
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
  summary: 'Removes sessions, temporary tokens and setups that ended',
  scope: 'platform',
  payload: Joi.object<Record<string, never>>({}),
  schedule: { cron: '23 * * * *' },
  maxAttempts: 1,
  run: (ctx) => sweepExpired(ctx),
});
