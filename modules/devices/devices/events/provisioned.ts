/** A device was created in advance; its agent has not enrolled yet. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'A device was created before its agent enrolled',
  data: Joi.object<{ hostname: string }>({ hostname: Joi.string().required() }),
  example: { hostname: 'WS-0142' },
  webhook: { kind: 'device.provisioned' },
});
