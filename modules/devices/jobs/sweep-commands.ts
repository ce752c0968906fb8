/** Expires, times out and redelivers commands. */
import Joi from 'joi';
import { defineJob } from '#core';
import { expireCommands, redeliverCommands, timeOutCommands } from '../services/deadlines.ts';

declare module '#core/contract' {
  interface Jobs {
    'devices/sweep-commands': Record<string, never>;
  }
}

export default defineJob<Record<string, never>>({
  name: 'devices/sweep-commands',
  summary: 'Expires, times out and redelivers commands',
  scope: 'platform',
  payload: Joi.object({}),
  schedule: { every: 30 },
  maxAttempts: 1,
  async run(ctx) {
    await expireCommands(ctx);
    await timeOutCommands(ctx);
    await redeliverCommands(ctx);
  },
});
