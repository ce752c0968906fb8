/** A member was assigned another role. */
import Joi from 'joi';
import { defineEvent } from '#core';

interface RoleChanged {
  userId: string;
  email: string;
  /** Names of the roles. */
  from: string;
  to: string;
  /** Set when the tenant is a partner; the event then has no organization. */
  partnerId: string | null;
}

export default defineEvent({
  summary: 'A user has another role',
  data: Joi.object<RoleChanged>({
    userId: Joi.string().uuid().required(),
    email: Joi.string().required(),
    from: Joi.string().required(),
    to: Joi.string().required(),
    partnerId: Joi.string().uuid().allow(null).required(),
  }),
  example: {
    userId: '7c9e6679-7425-40de-944b-000000000001',
    email: 'ada@example.com',
    from: 'Viewer',
    to: 'Technician',
    partnerId: null,
  },
  webhook: { kind: 'user.role_changed', pick: ['userId', 'from', 'to'] },
  notice: {
    tell: {
      type: 'security',
      priority: 'high',
      permission: 'users:read',
      render: ({ userId, email, from, to, partnerId }) => ({
        title: `New role for ${email}`,
        message: `The role changed from ${from} to ${to}.`,
        link: `/users/${userId}`,
        metadata: { userId },
        partnerId,
      }),
    },
  },
});
