/** Halts rollouts that fail too often. Rings need no job: they open a fixed time after the promotion. */
import { defineJob } from '#core';
import { haltFailing } from '../services/rollout/rollouts.ts';

export default defineJob({
  summary: 'Halts rollouts that fail too often',
  scope: 'platform',
  schedule: { cron: '*/5 * * * *' },
  maxAttempts: 1,
  async run(ctx) {
    await haltFailing(ctx);
  },
});
