/**
 * Evaluates changed devices again as soon as the change is committed; mark_devices_dirty() in migrations/001-device-groups.sql
 * adds the job.
 */
import { defineJob } from '#core';
import { drain } from '../services/evaluating/drains.ts';

declare module '#core/contract' {
  interface Jobs {
    'device-groups/drain-dirty': Record<string, never>;
  }
}

export default defineJob({
  summary: 'Evaluates changed devices in the groups whose filters use what changed',
  scope: 'tenant',
  // What it does not finish remains in the queue, where the sweep finds it.
  maxAttempts: 1,
  async run(ctx) {
    if (ctx.scope.orgId) await drain(ctx, ctx.scope.orgId);
  },
});
