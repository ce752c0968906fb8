/** Writes a lamp, where lamps are on. */
import Joi from 'joi';
import { defineJob } from '#core';

declare module '#core/contract' {
  interface Jobs {
    'lamp/shine': { text: string };
  }
}

export default defineJob<{ text: string }>({
  name: 'lamp/shine',
  summary: 'Writes a lamp',
  scope: 'tenant',
  payload: Joi.object({ text: Joi.string() }),
  maxAttempts: 1,
  async run(ctx, { text }) {
    await ctx.sql('insert into lamps (org_id, text) values ($1, $2)', [ctx.scope.orgId, `${text} by job`]);
  },
});
