/** Expires, times out, redelivers and cancels commands. */
import { defineJob } from '#core';
import { cancelUnwanted, expireCommands, redeliverCommands, timeOutCommands } from '../services/deadlines.ts';

export default defineJob({
  summary: 'Expires, times out, redelivers and cancels commands',
  scope: 'platform',
  schedule: { every: 30 },
  maxAttempts: 1,
  async run(ctx) {
    await cancelUnwanted(ctx);
    await expireCommands(ctx);
    await timeOutCommands(ctx);
    await redeliverCommands(ctx);
  },
});
