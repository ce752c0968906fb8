/** Removes the devices of runs that are long over. */
import { defineJob } from '#core';
import { pruneSets } from '../services/frozen.ts';

declare module '#core/contract' {
  interface Jobs {
    'targets/prune-sets': Record<string, never>;
  }
}

export default defineJob({
  summary: 'Removes the kept devices of runs after 90 days',
  scope: 'platform',
  schedule: { cron: '40 3 * * *' },
  maxAttempts: 3,
  async run(ctx) {
    if (await pruneSets(ctx)) ctx.addJob('targets/prune-sets', {}, { key: 'targets-prune' });
  },
});
