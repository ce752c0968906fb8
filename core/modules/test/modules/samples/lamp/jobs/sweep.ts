/** A job that runs also where lamps are off, as retention does. */
import Joi from 'joi';
import { defineJob } from '#core';

declare module '#core/contract' {
  interface Jobs {
    'lamp/sweep': { text: string };
  }
}

export default defineJob<{ text: string }>({
  name: 'lamp/sweep',
  summary: 'Writes a lamp in any case',
  scope: 'tenant',
  payload: Joi.object({ text: Joi.string() }),
  whenOff: 'a test of retention',
  maxAttempts: 1,
  async run(ctx, { text }) {
    await ctx.sql('insert into lamps (org_id, text) values ($1, $2)', [ctx.scope.orgId, `${text} by sweep`]);
  },
});
