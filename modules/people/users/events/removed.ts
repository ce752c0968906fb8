/** A user was removed from a tenant. */
import Joi from 'joi';
import { defineEvent } from '#core';

interface Removed {
  userId: string;
  /** Set when the tenant is a partner; the event then has no organization. */
  partnerId: string | null;
}

export default defineEvent({
  summary: 'A user was removed',
  data: Joi.object<Removed>({
    userId: Joi.string().uuid().required(),
    partnerId: Joi.string().uuid().allow(null).required(),
  }),
  example: { userId: '7c9e6679-7425-40de-944b-000000000001', partnerId: null },
  webhook: { kind: 'user.removed', pick: ['userId'] },
  notice: {
    tell: {
      type: 'security',
      priority: 'normal',
      permission: 'users:read',
      render: ({ userId, partnerId }, { organization }) => ({
        title: organization ? `A user was removed from ${organization}` : 'A user was removed',
        message: 'The account no longer has access.',
        link: '/users',
        metadata: { userId },
        partnerId,
      }),
    },
  },
});
