/** Renames a tag on the devices of an organization and in everything that refers to it. */
import Joi from 'joi';
import { defineJob } from '#core';
import { renameEverywhere } from '../services/renames.ts';

interface Payload {
  from: string;
  to: string;
}
declare module '#core/contract' {
  interface Jobs {
    'tags/rename-tag': Payload;
  }
}

export default defineJob<Payload>({
  summary: 'Renames a tag on devices and in everything that refers to it',
  scope: 'tenant',
  payload: Joi.object({ from: Joi.string().required(), to: Joi.string().required() }),
  whenOff: 'half of a change would stay in the data',
  maxAttempts: 5,
  async run(ctx, { from, to }) {
    if (ctx.scope.orgId) await renameEverywhere(ctx, ctx.scope.orgId, from, to);
  },
});
