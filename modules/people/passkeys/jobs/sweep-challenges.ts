/** Removes challenges that nobody answered in time, a bounded number a run. */
import Joi from 'joi';
import { defineJob } from '#core';
import { sweepChallenges } from '../services/challenges.ts';

declare module '#core/contract' {
  interface Jobs {
    'passkeys/sweep-challenges': Record<string, never>;
  }
}

export default defineJob({
  summary: 'Removes challenges that nobody answered in time',
  scope: 'platform',
  payload: Joi.object<Record<string, never>>({}),
  schedule: { cron: '41 * * * *' },
  whenOff: 'what was begun must not stay',
  maxAttempts: 1,
  async run(ctx) {
    if (await sweepChallenges(ctx)) ctx.addJob('passkeys/sweep-challenges', {}, { orgId: null });
  },
});
