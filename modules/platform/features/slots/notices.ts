/** Notifications for partners about trials. */
import { defineFilling } from '#core';
import type { Events } from '#core/contract';

const permission = 'organizations:read';

export default [
  defineFilling({
    slot: 'notifications.notice',
    value: {
      event: 'features.trial.ending',
      summary: 'The trial of a module ends soon',
      tell: {
        type: 'system',
        priority: 'normal',
        permission,
        render: ({ partnerId, key, days, expiresAt }: Events['features.trial.ending']) => ({
          title: `The trial of ${key} ends within ${days === 1 ? 'one day' : `${days} days`}`,
          message: `It is switched off at ${expiresAt}. What was made with it is kept.`,
          link: '/modules',
          metadata: { key },
          dedupeKey: `trial:${key}`,
          partnerId,
        }),
      },
    },
  }),
  defineFilling({
    slot: 'notifications.notice',
    value: {
      event: 'features.trial.ended',
      summary: 'The trial of a module has ended',
      tell: {
        type: 'system',
        priority: 'high',
        permission,
        render: ({ partnerId, key }: Events['features.trial.ended']) => ({
          title: `The trial of ${key} has ended`,
          message: 'It is switched off. What was made with it is kept, and is there again when it is switched on.',
          link: '/modules',
          metadata: { key },
          dedupeKey: `trial:${key}`,
          partnerId,
        }),
      },
    },
  }),
];
