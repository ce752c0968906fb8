/** A device that was offline reported again. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'A device came online',
  data: Joi.object<{ hostname: string }>({ hostname: Joi.string().required() }),
  example: { hostname: 'WS-0142' },
  webhook: { kind: 'device.online' },
});
