/** Deletes old changes and addresses of devices. */
import { defineJob } from '#core';
import { pruneHistory } from '../services/retention.ts';

export default defineJob({
  summary: 'Deletes old changes and addresses of devices',
  scope: 'platform',
  schedule: { cron: '17 2 * * *' },
  maxAttempts: 5,
  run: pruneHistory,
});
