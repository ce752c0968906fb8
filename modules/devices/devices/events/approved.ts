/** A device that waited for approval was approved. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'A device was approved',
  data: Joi.object<{ hostname: string }>({ hostname: Joi.string().required() }),
  example: { hostname: 'WS-0142' },
  webhook: { kind: 'device.approved' },
  notice: {
    summary: 'A device that waited for approval was approved',
    settles: (_data, { deviceId }) => `quarantine:${deviceId}`,
  },
});
