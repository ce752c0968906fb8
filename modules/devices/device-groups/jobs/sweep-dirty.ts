/** Finds queues of changed devices that nobody has taken. */
import Joi from 'joi';
import { defineJob } from '#core';
import { sweep } from '../services/evaluating/drains.ts';

declare module '#core/contract' {
  interface Jobs {
    'device-groups/sweep-dirty': Record<string, never>;
  }
}

export default defineJob<Record<string, never>>({
  name: 'device-groups/sweep-dirty',
  summary: 'Finds changed devices that no job has looked at',
  scope: 'platform',
  payload: Joi.object({}),
  schedule: { every: 10 },
  maxAttempts: 1,
  run: (ctx) => sweep(ctx),
});
