/** Daily: adds jobs for organizations with expired entries, thins out old checkpoints, and removes unfinished archives. */
import { defineJob } from '#core';
import { removeArchiveDrafts } from '../services/keeping/archives.ts';
import { planRetention } from '../services/keeping/retention.ts';
import { thinCheckpoints } from '../services/proofs/checkpoints.ts';

export default defineJob({
  summary: 'Adds a pruning job for each organization with expired audit entries',
  scope: 'platform',
  schedule: { cron: '17 3 * * *' },
  maxAttempts: 3,
  async run(ctx) {
    await removeArchiveDrafts(ctx);
    await planRetention(ctx);
    await thinCheckpoints(ctx);
  },
});
