/** Expires, times out, redelivers and cancels commands. */
import Joi from 'joi';
import { defineJob } from '#core';
import { cancelUnwanted, expireCommands, redeliverCommands, timeOutCommands } from '../services/deadlines.ts';

declare module '#core/contract' {
  interface Jobs {
    'device-commands/sweep-commands': Record<string, never>;
  }
}

export default defineJob<Record<string, never>>({
  name: 'device-commands/sweep-commands',
  summary: 'Expires, times out, redelivers and cancels commands',
  scope: 'platform',
  payload: Joi.object({}),
  schedule: { every: 30 },
  maxAttempts: 1,
  async run(ctx) {
    await cancelUnwanted(ctx);
    await expireCommands(ctx);
    await timeOutCommands(ctx);
    await redeliverCommands(ctx);
  },
});
