/** Deletes expired challenges, in batches. */
import { defineJob } from '#core';
import { sweepChallenges } from '../services/challenges.ts';

declare module '#core/contract' {
  interface Jobs {
    'passkeys/sweep-challenges': Record<string, never>;
  }
}

export default defineJob({
  summary: 'Deletes expired challenges',
  scope: 'platform',
  schedule: { cron: '41 * * * *' },
  whenOff: 'expired challenges must not stay',
  maxAttempts: 3,
  async run(ctx) {
    if (await sweepChallenges(ctx)) ctx.addJob('passkeys/sweep-challenges', {}, { orgId: null });
  },
});
