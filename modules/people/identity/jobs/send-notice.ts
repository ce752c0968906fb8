/** Mails a security notice about an account. */
import Joi from 'joi';
import { defineJob } from '#core';
import { NOTICE_KINDS, type Notice, sendNotice } from '../services/accounts/notices.ts';

declare module '#core/contract' {
  interface Jobs {
    'identity/send-notice': Notice;
  }
}

export default defineJob<Notice>({
  summary: 'Mails a security notice about an account',
  scope: 'platform',
  payload: Joi.object<Notice>({
    email: Joi.string().required(),
    kind: Joi.string()
      .valid(...NOTICE_KINDS)
      .required(),
    at: Joi.string().required(),
    ip: Joi.string().allow(null).required(),
  }),
  maxAttempts: 5,
  run: (ctx, notice) => sendNotice(ctx, notice),
});
