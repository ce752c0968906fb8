/** What people are told of users; only those who may look at users. */
import { defineFilling } from '#core';
import type { Events } from '#core/contract';

const permission = 'users:read';

export default [
  defineFilling({
    slot: 'notifications.notice',
    value: {
      event: 'users.invited',
      summary: 'Somebody was invited',
      tell: {
        type: 'user',
        priority: 'low',
        permission,
        render: ({ invitationId, partnerId }: Events['users.invited'], { organization }) => ({
          title: organization ? `Somebody was invited to ${organization}` : 'Somebody was invited',
          message: 'The invitation waits to be accepted.',
          link: '/users',
          metadata: { invitationId },
          partnerId,
        }),
      },
    },
  }),
  defineFilling({
    slot: 'notifications.notice',
    value: {
      event: 'users.joined',
      summary: 'Somebody joined',
      tell: {
        type: 'security',
        priority: 'normal',
        permission,
        render: ({ userId, partnerId }: Events['users.joined'], { organization }) => ({
          title: organization ? `Somebody joined ${organization}` : 'Somebody joined',
          message: 'A new account has access now.',
          link: `/users/${userId}`,
          metadata: { userId },
          partnerId,
        }),
      },
    },
  }),
  defineFilling({
    slot: 'notifications.notice',
    value: {
      event: 'users.role.changed',
      summary: 'Somebody has another role',
      tell: {
        type: 'security',
        priority: 'high',
        permission,
        render: ({ userId, email, from, to, partnerId }: Events['users.role.changed']) => ({
          title: `Another role for ${email}`,
          message: `${from} before, ${to} now.`,
          link: `/users/${userId}`,
          metadata: { userId },
          partnerId,
        }),
      },
    },
  }),
  defineFilling({
    slot: 'notifications.notice',
    value: {
      event: 'users.removed',
      summary: 'Somebody was removed',
      tell: {
        type: 'security',
        priority: 'normal',
        permission,
        render: ({ userId, partnerId }: Events['users.removed'], { organization }) => ({
          title: organization ? `Somebody was removed from ${organization}` : 'Somebody was removed',
          message: 'The account has no access any more.',
          link: '/users',
          metadata: { userId },
          partnerId,
        }),
      },
    },
  }),
];
