/** Mails the user who installed a plugin that was disabled. */
import Joi from 'joi';
import { defineJob } from '#core';
import { type Notice, sendNotice } from '../services/notices.ts';

declare module '#core/contract' {
  interface Jobs {
    'plugins/send-notice': Notice;
  }
}

export default defineJob<Notice>({
  summary: 'Mails the user who installed a plugin that was switched off',
  scope: 'platform',
  payload: Joi.object({
    installationId: Joi.string().uuid().required(),
    userId: Joi.string().uuid().required(),
    reason: Joi.string().max(2_000).required(),
  }),
  maxAttempts: 6,
  run: (ctx, notice) => sendNotice(ctx, notice),
});
