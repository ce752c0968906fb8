/** Removes exports of the audit trail that are seven days old. */
import { defineJob } from '#core';
import { sweepExports } from '../services/exports/export-steps.ts';

export default defineJob({
  summary: 'Removes exports of the audit trail that are seven days old',
  scope: 'platform',
  schedule: { cron: '23 * * * *' },
  maxAttempts: 1,
  run: (ctx) => sweepExports(ctx),
});
