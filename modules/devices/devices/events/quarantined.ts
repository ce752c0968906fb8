/** A device was quarantined: only its heartbeats are accepted until a user approves it. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'A device waits for approval',
  data: Joi.object<{ hostname: string; reason: string }>({
    hostname: Joi.string().required(),
    reason: Joi.string().required(),
  }),
  example: { hostname: 'WS-0142', reason: 'approval_required' },
  webhook: { kind: 'device.quarantined' },
  notice: {
    tell: {
      type: 'device',
      priority: 'high',
      permission: 'devices:write',
      render: ({ hostname, reason }, { device }, { deviceId }) => ({
        title: `${device ?? hostname} waits for approval`,
        message: reason,
        link: `/devices/${deviceId}`,
        metadata: { deviceId },
        dedupeKey: `quarantine:${deviceId}`,
      }),
    },
  },
});
