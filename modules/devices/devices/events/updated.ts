/** Fields of a device changed. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'Fields of a device changed',
  data: Joi.object<{ changedFields: string[] }>({ changedFields: Joi.array().items(Joi.string()).required() }),
  example: { changedFields: ['displayName'] },
  webhook: { kind: 'device.updated' },
});
