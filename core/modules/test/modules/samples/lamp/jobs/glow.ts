/** A scheduled job, one for each organization. */
import Joi from 'joi';
import { defineJob } from '#core';

declare module '#core/contract' {
  interface Jobs {
    'lamp/glow': Record<string, never>;
  }
}

export default defineJob<Record<string, never>>({
  name: 'lamp/glow',
  summary: 'Writes a lamp every night',
  scope: 'tenant',
  payload: Joi.object({}),
  schedule: { cron: '0 3 * * *' },
  maxAttempts: 1,
  async run(ctx) {
    await ctx.sql(`insert into lamps (org_id, text) values ($1, 'glow')`, [ctx.scope.orgId]);
  },
});
