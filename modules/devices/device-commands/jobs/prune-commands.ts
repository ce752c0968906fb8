/** Deletes commands that ended long ago. */
import { defineJob } from '#core';
import { pruneCommands } from '../services/retention.ts';

export default defineJob({
  summary: 'Deletes commands that ended long ago',
  scope: 'platform',
  schedule: { cron: '17 2 * * *' },
  maxAttempts: 5,
  run: pruneCommands,
});
