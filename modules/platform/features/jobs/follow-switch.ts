/** Handles the consequences of a switch after its commit. */
import Joi from 'joi';
import { defineJob } from '#core';
import { followSwitch, type Switched } from '../services/aftermath.ts';

declare module '#core/contract' {
  interface Jobs {
    'features/follow-switch': Switched;
  }
}

export default defineJob<Switched>({
  summary: 'Cancels waiting commands of a module that was switched off, and runs the hooks of the module',
  scope: 'platform',
  payload: Joi.object<Switched>({
    key: Joi.string().required(),
    partnerId: Joi.string().uuid().allow(null).required(),
    orgId: Joi.string().uuid().allow(null).required(),
    enabled: Joi.boolean().required(),
  }),
  maxAttempts: 8,
  run: (ctx, switched) => followSwitch(ctx, switched),
});
