/** A person was invited to a tenant. */
import Joi from 'joi';
import { defineEvent } from '#core';

interface Invited {
  invitationId: string;
  roleId: string;
  /** Set when the tenant is a partner; the event then has no organization. */
  partnerId: string | null;
}

export default defineEvent({
  summary: 'A person was invited',
  data: Joi.object<Invited>({
    invitationId: Joi.string().uuid().required(),
    roleId: Joi.string().uuid().required(),
    partnerId: Joi.string().uuid().allow(null).required(),
  }),
  example: {
    invitationId: '7c9e6679-7425-40de-944b-000000000001',
    roleId: '00000000-0000-4000-8000-000000000003',
    partnerId: null,
  },
  // Without addresses and names.
  webhook: { kind: 'user.invited', pick: ['invitationId', 'roleId'] },
  notice: {
    tell: {
      type: 'user',
      priority: 'low',
      permission: 'users:read',
      render: ({ invitationId, partnerId }, { organization }) => ({
        title: organization ? `A person was invited to ${organization}` : 'A person was invited',
        message: 'The invitation has not been accepted yet.',
        link: '/users',
        metadata: { invitationId },
        partnerId,
      }),
    },
  },
});
