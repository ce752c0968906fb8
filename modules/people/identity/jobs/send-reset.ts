/** Mails a password reset link. */
import Joi from 'joi';
import { defineJob } from '#core';
import { sendReset } from '../services/accounts/password-resets.ts';

interface Payload {
  email: string;
}
declare module '#core/contract' {
  interface Jobs {
    'identity/send-reset': Payload;
  }
}

export default defineJob<Payload>({
  summary: 'Mails a password reset link',
  scope: 'platform',
  payload: Joi.object<Payload>({ email: Joi.string().required() }),
  maxAttempts: 5,
  interactive: true,
  run: (ctx, { email }) => sendReset(ctx, email),
});
