/** Removes expired tokens: replaced and unconfirmed ones. */
import { defineJob } from '#core';
import { cleanCredentials } from '../services/tokens/credentials.ts';

export default defineJob({
  summary: 'Removes tokens that were replaced or never confirmed',
  scope: 'platform',
  schedule: { cron: '23 * * * *' },
  maxAttempts: 3,
  run: (ctx) => cleanCredentials(ctx),
});
