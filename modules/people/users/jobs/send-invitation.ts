/** Mails the link of an invitation. */
import Joi from 'joi';
import { defineJob } from '#core';
import { sendInvitation } from '../services/invitations.ts';

interface Payload {
  invitationId: string;
}
declare module '#core/contract' {
  interface Jobs {
    'users/send-invitation': Payload;
  }
}

export default defineJob<Payload>({
  summary: 'Mails the link of an invitation',
  scope: 'platform',
  payload: Joi.object<Payload>({ invitationId: Joi.string().uuid().required() }),
  maxAttempts: 5,
  run: (ctx, { invitationId }) => sendInvitation(ctx, invitationId),
});
