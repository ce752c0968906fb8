/** A tag was renamed on all devices of an organization: one event instead of one for each device. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'A tag was renamed on all devices that have it',
  data: Joi.object<{ from: string; to: string; devices: number }>({
    from: Joi.string().required(),
    to: Joi.string().required(),
    devices: Joi.number().integer().required().description('Number of devices that had the tag'),
  }),
  example: { from: 'lab', to: 'laboratory', devices: 14 },
  webhook: { kind: 'device.tag_renamed' },
});
