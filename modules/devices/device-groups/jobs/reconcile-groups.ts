/** The nightly look at every group: evaluations, counts, and an end to the old log. */
import { defineJob } from '#core';
import { recount, scheduleReconcile } from '../services/evaluating/schedules.ts';
import { dropOldChanges } from '../services/members/membership-logs.ts';

export default defineJob({
  summary: 'Evaluates every dynamic group, counts members anew and drops old log days',
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
