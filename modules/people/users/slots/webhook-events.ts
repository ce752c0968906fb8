/** What webhooks are told of users; addresses and names stay here. */
import Joi from 'joi';
import { defineFilling } from '#core';
import type { Events } from '#core/contract';

export default [
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'users.invited',
      kind: 'user.invited',
      summary: 'Somebody was invited',
      shape: Joi.object({ invitationId: Joi.string().uuid().required(), roleId: Joi.string().uuid().required() }),
      example: { invitationId: '7c9e6679-7425-40de-944b-000000000001', roleId: '00000000-0000-4000-8000-000000000003' },
      snapshot: ({ invitationId, roleId }: Events['users.invited']) => ({ invitationId, roleId }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'users.joined',
      kind: 'user.created',
      summary: 'Somebody joined',
      shape: Joi.object({ userId: Joi.string().uuid().required(), roleId: Joi.string().uuid().required() }),
      example: { userId: '7c9e6679-7425-40de-944b-000000000001', roleId: '00000000-0000-4000-8000-000000000003' },
      snapshot: ({ userId, roleId }: Events['users.joined']) => ({ userId, roleId }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'users.removed',
      kind: 'user.removed',
      summary: 'Somebody was removed',
      shape: Joi.object({ userId: Joi.string().uuid().required() }),
      example: { userId: '7c9e6679-7425-40de-944b-000000000001' },
      snapshot: ({ userId }: Events['users.removed']) => ({ userId }),
    },
  }),
];
