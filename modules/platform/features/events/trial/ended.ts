/** The trial of a module has ended. The event has no organization; `partnerId` is the partner whose trial it was. */
import Joi from 'joi';
import { defineEvent } from '#core';

export default defineEvent({
  summary: 'The trial of a module has ended',
  data: Joi.object<{ partnerId: string; key: string }>({
    partnerId: Joi.string().uuid().required(),
    key: Joi.string().required(),
  }),
  example: { partnerId: '7c9e6679-7425-40de-944b-000000000001', key: 'sso' },
  notice: {
    tell: {
      type: 'system',
      priority: 'high',
      permission: 'organizations:read',
      render: ({ partnerId, key }) => ({
        title: `The trial of ${key} has ended`,
        message: 'It is switched off. What was made with it is kept, and is there again when it is switched on.',
        link: '/modules',
        metadata: { key },
        dedupeKey: `trial:${key}`,
        partnerId,
      }),
    },
  },
});
