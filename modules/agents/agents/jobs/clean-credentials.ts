/** Removes replaced and unconfirmed tokens whose time is over. */
import Joi from 'joi';
import { defineJob } from '#core';
import { cleanCredentials } from '../services/tokens/credentials.ts';

declare module '#core/contract' {
  interface Jobs {
    'agents/clean-credentials': Record<string, never>;
  }
}

export default defineJob({
  name: 'agents/clean-credentials',
  summary: 'Removes tokens that were replaced or never confirmed',
  scope: 'platform',
  payload: Joi.object({}),
  schedule: { cron: '23 * * * *' },
  maxAttempts: 3,
  run: (ctx) => cleanCredentials(ctx),
});
