/** The nightly look at every group: evaluations, counts, and an end to the old log. */
import Joi from 'joi';
import { defineJob } from '#core';
import { dropOldChanges } from '../services/membership-logs.ts';
import { recount, scheduleReconcile } from '../services/schedules.ts';

declare module '#core/contract' {
  interface Jobs {
    'device-groups/reconcile-groups': Record<string, never>;
  }
}

export default defineJob<Record<string, never>>({
  name: 'device-groups/reconcile-groups',
  summary: 'Evaluates every dynamic group, counts members anew and drops old log days',
  scope: 'platform',
  payload: Joi.object({}),
  schedule: { cron: '0 3 * * *' },
  maxAttempts: 3,
  async run(ctx) {
    const wrong = await recount(ctx);
    if (wrong > 0) ctx.log.warn({ groups: wrong }, 'device groups had counted their members wrong');
    await dropOldChanges(ctx);
    await scheduleReconcile(ctx);
  },
});
