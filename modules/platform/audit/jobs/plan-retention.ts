/** Daily: adds jobs for organizations with expired entries, and thins out old checkpoints. */
import { defineJob } from '#core';
import { planRetention } from '../services/keeping/retention.ts';
import { thinCheckpoints } from '../services/proofs/checkpoints.ts';

export default defineJob({
  summary: 'Adds a pruning job for each organization with expired audit entries',
  scope: 'platform',
  schedule: { cron: '17 3 * * *' },
  maxAttempts: 3,
  async run(ctx) {
    await planRetention(ctx);
    await thinCheckpoints(ctx);
  },
});
