/** The watchdog of a device still reports, but its agent no longer does. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'Only the watchdog of a device is heard',
  data: Joi.object<{ hostname: string }>({ hostname: Joi.string().required() }),
  example: { hostname: 'WS-0142' },
  webhook: { kind: 'device.main_agent_silent' },
  notice: {
    tell: {
      type: 'device',
      priority: 'normal',
      permission: 'devices:read',
      render: ({ hostname }, { device }, { deviceId }) => ({
        title: `The agent of ${device ?? hostname} is silent`,
        message: 'Its watchdog is still heard, so the device is on.',
        link: `/devices/${deviceId}`,
        metadata: { deviceId },
        dedupeKey: `agent-silent:${deviceId}`,
      }),
    },
  },
});
