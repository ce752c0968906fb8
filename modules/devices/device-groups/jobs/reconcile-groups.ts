/** Nightly: evaluates all groups, corrects their counts, and drops old partitions of the log. */
import { defineJob } from '#core';
import { recount, scheduleReconcile } from '../services/evaluating/schedules.ts';
import { dropOldChanges } from '../services/members/membership-logs.ts';

export default defineJob({
  summary: 'Evaluates every dynamic group, corrects the counts of members and drops old days of the log',
  scope: 'platform',
  schedule: { cron: '0 3 * * *' },
  whenOff: 'counts stay right and the log stays short',
  maxAttempts: 3,
  async run(ctx) {
    const wrong = await recount(ctx);
    if (wrong > 0) ctx.log.warn({ groups: wrong }, 'device groups had counted their members wrong');
    await dropOldChanges(ctx);
    await scheduleReconcile(ctx);
  },
});
