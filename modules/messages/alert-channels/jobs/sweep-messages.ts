/** Asks for messages that are due: retries, digests, what waited for quiet hours to end, and what a crash left behind. */
import Joi from 'joi';
import { defineJob } from '#core';
import { sweepMessages } from '../services/sending/sweeps.ts';

declare module '#core/contract' {
  interface Jobs {
    'alert-channels/sweep-messages': Record<string, never>;
  }
}

export default defineJob<Record<string, never>>({
  name: 'alert-channels/sweep-messages',
  summary: 'Asks for messages to channels that are due',
  scope: 'platform',
  payload: Joi.object({}),
  schedule: { cron: '* * * * *' },
  maxAttempts: 1,
  run: (ctx) => sweepMessages(ctx),
});
