/** Deletes bookmarks after their retention, in batches. */
import { defineJob } from '#core';
import { deleteExpired } from '../services/bookmarks.ts';

export default defineJob({
  summary: 'Deletes bookmarks that are older than two years',
  scope: 'platform',
  schedule: { cron: '17 3 * * *' },
  maxAttempts: 3,
  whenOff: 'retention also applies where the module is off',
  run: deleteExpired,
});
