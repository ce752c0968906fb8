/** The trial of a module ends soon. The event has no organization; `partnerId` is the partner whose trial it is. */
import Joi from 'joi';
import { defineEvent } from '#core';

interface TrialEnding {
  partnerId: string;
  key: string;
  days: number;
  expiresAt: string;
}

export default defineEvent({
  summary: 'The trial of a module ends soon',
  data: Joi.object<TrialEnding>({
    partnerId: Joi.string().uuid().required(),
    key: Joi.string().required(),
    days: Joi.number().integer().required(),
    expiresAt: Joi.string().isoDate().required(),
  }),
  example: {
    partnerId: '7c9e6679-7425-40de-944b-000000000001',
    key: 'sso',
    days: 7,
    expiresAt: '2026-11-09T09:30:00.000Z',
  },
  notice: {
    tell: {
      type: 'system',
      priority: 'normal',
      permission: 'organizations:read',
      render: ({ partnerId, key, days, expiresAt }) => ({
        title: `The trial of ${key} ends within ${days === 1 ? 'one day' : `${days} days`}`,
        message: `It is switched off at ${expiresAt}. What was made with it is kept.`,
        link: '/modules',
        metadata: { key },
        dedupeKey: `trial:${key}`,
        partnerId,
      }),
    },
  },
});
