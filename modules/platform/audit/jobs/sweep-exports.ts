/** Deletes exports of the audit trail after seven days. */
import { defineJob } from '#core';
import { sweepExports } from '../services/exports/export-steps.ts';

export default defineJob({
  summary: 'Deletes exports of the audit trail after seven days',
  scope: 'platform',
  schedule: { cron: '23 * * * *' },
  maxAttempts: 3,
  run: (ctx) => sweepExports(ctx),
});
