/** A bookmark was added to a device. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'A bookmark was added to a device',
  data: Joi.object<{ bookmarkId: string; text: string }>({
    bookmarkId: Joi.string().uuid().required(),
    text: Joi.string().required(),
  }),
  example: { bookmarkId: '7c9e6679-7425-40de-944b-000000000001', text: 'Replaced the power supply' },
  webhook: { kind: 'device.bookmark_added' },
});
