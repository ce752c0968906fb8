/** The hardware of a device is not what its agent reported before. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'The hardware of a device changed',
  data: Joi.object<{ fields: string[] }>({
    fields: Joi.array()
      .items(Joi.string())
      .min(1)
      .required()
      .description('What changed, by the names of GET /devices/{id}'),
  }),
  example: { fields: ['ramTotalMb'] },
  webhook: { kind: 'device.hardware_changed' },
});
