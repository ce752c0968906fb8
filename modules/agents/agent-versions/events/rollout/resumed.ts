/** A user ended the halt of a version, so that it is offered again. */
import Joi from 'joi';
import { defineEvent } from '#core';
import type { Updatable } from '../../models/attempt.ts';

interface Resumed {
  haltId: string;
  component: Updatable;
  version: string;
}

export default defineEvent({
  summary: 'A version is offered again',
  data: Joi.object<Resumed>({
    haltId: Joi.string().uuid().required(),
    component: Joi.string().valid('agent', 'watchdog').required(),
    version: Joi.string().required(),
  }),
  example: { haltId: '7c9e6679-7425-40de-944b-000000000002', component: 'agent', version: '1.1.0' },
  webhook: { kind: 'agent.rollout_resumed' },
  notice: { settles: ({ haltId }) => `halt:${haltId}` },
});
