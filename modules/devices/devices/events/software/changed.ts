/** The installed software of a device changed. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'The installed software of a device changed',
  data: Joi.object<{ added: number; removed: number }>({
    added: Joi.number().integer().min(0).required(),
    removed: Joi.number().integer().min(0).required(),
  }),
  example: { added: 3, removed: 1 },
  webhook: { kind: 'device.software_changed' },
});
