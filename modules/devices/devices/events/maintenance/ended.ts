/** The maintenance mode of a device ended. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'A device left maintenance',
  data: Joi.object<{ hostname: string }>({ hostname: Joi.string().required() }),
  example: { hostname: 'WS-0142' },
  webhook: { kind: 'maintenance.ended' },
});
