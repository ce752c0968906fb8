/** A decommissioned device was restored. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'A decommissioned device was restored',
  data: Joi.object<{ hostname: string }>({ hostname: Joi.string().required() }),
  example: { hostname: 'WS-0142' },
  webhook: { kind: 'device.restored' },
});
