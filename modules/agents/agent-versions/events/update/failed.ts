/** An update of an agent or watchdog failed or was rolled back. */
import Joi from 'joi';
import { defineEvent } from '#core';
import type { Updatable } from '../../models/attempt.ts';

interface Failed {
  attemptId: string;
  component: Updatable;
  from: string;
  to: string;
  state: string;
  reason: string | null;
  over: boolean;
}

export default defineEvent({
  summary: 'An update of an agent failed',
  data: Joi.object<Failed>({
    attemptId: Joi.string().uuid().required(),
    component: Joi.string().valid('agent', 'watchdog').required(),
    from: Joi.string().required(),
    to: Joi.string().required(),
    state: Joi.string().required(),
    reason: Joi.string().allow(null).required(),
    over: Joi.boolean()
      .required()
      .description('The version is not offered to this device again, unless an operator retries it'),
  }),
  example: {
    attemptId: '7c9e6679-7425-40de-944b-000000000002',
    component: 'agent',
    from: '1.0.0',
    to: '1.1.0',
    state: 'failed',
    reason: 'checksum_mismatch',
    over: false,
  },
  webhook: { kind: 'agent.update_failed' },
  notice: {
    summary: 'An agent could not be updated and is not tried again',
    tell: {
      type: 'device',
      priority: 'normal',
      permission: 'devices:read',
      render: ({ attemptId, component, to, reason, state, over }, { device }, { deviceId }) =>
        over
          ? {
              title: `${device ?? 'A device'} could not be updated to ${to}`,
              message: `${component}: ${reason ?? state}. It is not tried again.`,
              link: `/devices/${deviceId}`,
              metadata: { deviceId, attemptId },
              dedupeKey: `update:${component}:${deviceId}`,
            }
          : null,
    },
  },
});
