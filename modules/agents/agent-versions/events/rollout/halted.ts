/** A version is no longer offered to an organization or a partner, because updates to it fail. */
import Joi from 'joi';
import { defineEvent } from '#core';
import type { Updatable } from '../../models/attempt.ts';

interface Halted {
  haltId: string;
  partnerId: string;
  component: Updatable;
  version: string;
  attempts: number;
  failures: number;
}

export default defineEvent({
  summary: 'A version is not offered any more because updates to it fail',
  data: Joi.object<Halted>({
    haltId: Joi.string().uuid().required(),
    partnerId: Joi.string().uuid().required(),
    component: Joi.string().valid('agent', 'watchdog').required(),
    version: Joi.string().required(),
    attempts: Joi.number().integer().required(),
    failures: Joi.number().integer().required(),
  }),
  example: {
    haltId: '7c9e6679-7425-40de-944b-000000000002',
    partnerId: '7c9e6679-7425-40de-944b-000000000001',
    component: 'agent',
    version: '1.1.0',
    attempts: 20,
    failures: 5,
  },
  webhook: { kind: 'agent.rollout_halted', pick: ['haltId', 'component', 'version', 'attempts', 'failures'] },
  notice: {
    tell: {
      type: 'system',
      priority: 'high',
      permission: 'devices:read',
      render: ({ haltId, partnerId, component, version, attempts, failures }) => ({
        title: `${component} ${version} is not offered any more`,
        message: `${failures} of ${attempts} updates to it failed. It is offered again when an operator resumes it.`,
        link: '/agent-versions',
        metadata: { haltId },
        dedupeKey: `halt:${haltId}`,
        partnerId,
      }),
    },
  },
});
