/** Deletes expired challenges, in batches. */
import Joi from 'joi';
import { defineJob } from '#core';
import { sweepChallenges } from '../services/challenges.ts';

declare module '#core/contract' {
  interface Jobs {
    'passkeys/sweep-challenges': Record<string, never>;
  }
}

export default defineJob({
  name: 'passkeys/sweep-challenges',
  summary: 'Deletes expired challenges',
  scope: 'platform',
  payload: Joi.object<Record<string, never>>({}),
  schedule: { cron: '41 * * * *' },
  whenOff: 'expired challenges must not stay',
  maxAttempts: 1,
  async run(ctx) {
    if (await sweepChallenges(ctx)) ctx.addJob('passkeys/sweep-challenges', {}, { orgId: null });
  },
});
