/** Tells the kind of a request that it has ended, or carries out what was approved. */
import Joi from 'joi';
import { defineJob } from '#core';
import { concludeRequest } from '../services/conclusions.ts';

interface Payload {
  id: string;
}
declare module '#core/contract' {
  interface Jobs {
    'approvals/conclude-request': Payload;
  }
}

export default defineJob<Payload>({
  summary: 'Carries out what was approved, once, or tells its module that it was not',
  scope: 'tenant',
  payload: Joi.object<Payload>({ id: Joi.string().uuid().required() }),
  maxAttempts: 8,
  interactive: true,
  run: (ctx, { id }) => concludeRequest(ctx, id),
});
