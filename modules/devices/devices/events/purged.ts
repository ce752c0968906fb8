/** The row of a device and everything below it were deleted. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'A device and its data were deleted',
  data: Joi.object<{ hostname: string }>({ hostname: Joi.string().required() }),
  example: { hostname: 'WS-0142' },
  webhook: { kind: 'device.purged' },
});
