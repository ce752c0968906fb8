/** Many devices of an organization went offline at once; their own events follow after three minutes unless they return. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'Many devices of an organization went silent at once',
  data: Joi.object<{ offline: number; of: number }>({
    offline: Joi.number().integer().min(0).required().description('Number of devices that went silent'),
    of: Joi.number().integer().min(0).required().description('Number of active devices of the organization'),
  }),
  example: { offline: 12, of: 20 },
  webhook: { kind: 'device.outage' },
  notice: {
    tell: {
      type: 'device',
      priority: 'urgent',
      permission: 'devices:read',
      render: ({ offline, of }, { organization }, { orgId }) => ({
        title: `${offline} of ${of} devices went silent`,
        message: `Probably an outage${organization ? ` at ${organization}` : ''}: they all stopped at about the same time.`,
        link: `/devices?orgId=${orgId}&status=offline`,
        metadata: { offline, of },
        dedupeKey: `outage:${orgId}`,
      }),
    },
  },
});
