/** Signs what was sealed since the last checkpoints, every five minutes. */
import { defineJob } from '#core';
import { writeCheckpoints } from '../services/proofs/checkpoints.ts';

export default defineJob({
  summary: 'Signs what was sealed since the last checkpoints and writes the notes to object storage',
  scope: 'platform',
  schedule: { cron: '*/5 * * * *' },
  maxAttempts: 1,
  run: (ctx) => writeCheckpoints(ctx),
});
