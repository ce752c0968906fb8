/** Signs newly sealed entries every five minutes. */
import { defineJob } from '#core';
import { writeCheckpoints } from '../services/proofs/checkpoints.ts';

export default defineJob({
  summary: 'Signs newly sealed entries and writes the checkpoints to object storage',
  scope: 'platform',
  schedule: { cron: '*/5 * * * *' },
  maxAttempts: 1,
  run: (ctx) => writeCheckpoints(ctx),
});
