/** An agent or watchdog runs the version that it was offered. */
import Joi from 'joi';
import { defineEvent } from '#core';
import type { Updatable } from '../../models/attempt.ts';

interface Succeeded {
  attemptId: string;
  component: Updatable;
  from: string;
  to: string;
}

export default defineEvent({
  summary: 'An agent was updated',
  data: Joi.object<Succeeded>({
    attemptId: Joi.string().uuid().required(),
    component: Joi.string().valid('agent', 'watchdog').required(),
    from: Joi.string().required(),
    to: Joi.string().required(),
  }),
  example: { attemptId: '7c9e6679-7425-40de-944b-000000000002', component: 'agent', from: '1.0.0', to: '1.1.0' },
  webhook: { kind: 'agent.update_succeeded' },
  notice: {
    summary: 'An agent that could not be updated has been',
    settles: ({ component }, { deviceId }) => `update:${component}:${deviceId}`,
  },
});
