/** Ends update attempts that came to a standstill. */
import Joi from 'joi';
import { defineJob } from '#core';
import { sweepAttempts } from '../services/sweeps.ts';

declare module '#core/contract' {
  interface Jobs {
    'agent-versions/sweep-attempts': Record<string, never>;
  }
}

export default defineJob<Record<string, never>>({
  name: 'agent-versions/sweep-attempts',
  summary: 'Ends update attempts that came to a standstill',
  scope: 'platform',
  payload: Joi.object({}),
  schedule: { cron: '* * * * *' },
  maxAttempts: 1,
  async run(ctx) {
    await sweepAttempts(ctx);
  },
});
