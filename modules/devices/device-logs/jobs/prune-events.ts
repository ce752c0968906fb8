/** Removes counted events that have not come again for a month. */
import { defineJob } from '#core';
import { pruneEvents } from '../services/retention.ts';

export default defineJob({
  summary: 'Removes events that no longer come',
  scope: 'platform',
  schedule: { cron: '37 * * * *' },
  whenOff: 'what is kept is kept no longer than it should be',
  maxAttempts: 5,
  run: (ctx) => pruneEvents(ctx),
});
