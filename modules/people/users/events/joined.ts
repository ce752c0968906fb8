/** A user became a member of a tenant. */
import Joi from 'joi';
import { defineEvent } from '#core';

interface Joined {
  userId: string;
  roleId: string;
  /** Set when the tenant is a partner; the event then has no organization. */
  partnerId: string | null;
}

export default defineEvent({
  summary: 'A user joined',
  data: Joi.object<Joined>({
    userId: Joi.string().uuid().required(),
    roleId: Joi.string().uuid().required(),
    partnerId: Joi.string().uuid().allow(null).required(),
  }),
  example: {
    userId: '7c9e6679-7425-40de-944b-000000000001',
    roleId: '00000000-0000-4000-8000-000000000003',
    partnerId: null,
  },
  webhook: { kind: 'user.created', pick: ['userId', 'roleId'] },
  notice: {
    tell: {
      type: 'security',
      priority: 'normal',
      permission: 'users:read',
      render: ({ userId, partnerId }, { organization }) => ({
        title: organization ? `A user joined ${organization}` : 'A user joined',
        message: 'A new account has access now.',
        link: `/users/${userId}`,
        metadata: { userId },
        partnerId,
      }),
    },
  },
});
