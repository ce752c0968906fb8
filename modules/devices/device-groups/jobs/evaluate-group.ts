/** Evaluates one dynamic group in full. */
import Joi from 'joi';
import { defineJob } from '#core';
import { evaluateInBackground } from '../services/evaluating/evaluations.ts';

interface Payload {
  groupId: string;
  /** Requested by a user or an API key. */
  asked?: boolean;
  /** The nightly evaluation, which finds what events have missed. */
  reconcile?: boolean;
}
declare module '#core/contract' {
  interface Jobs {
    'device-groups/evaluate-group': Payload;
  }
}

export default defineJob<Payload>({
  summary: 'Evaluates the filter of a dynamic group and updates its members',
  scope: 'tenant',
  payload: Joi.object({
    groupId: Joi.string().uuid().required(),
    asked: Joi.boolean(),
    reconcile: Joi.boolean(),
  }),
  maxAttempts: 5,
  async run(ctx, { groupId, asked = false, reconcile = false }) {
    const outcome = await evaluateInBackground(ctx, groupId, { asked });
    const drift = outcome ? outcome.changes.added.length + outcome.changes.removed.length : 0;
    if (reconcile && drift > 0 && outcome?.mode === 'event') {
      ctx.log.warn({ groupId, drift }, 'members of a device group had drifted from its filter');
    }
  },
});
