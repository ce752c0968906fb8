/** Mails one administrator about a webhook that fails or was switched off. */
import Joi from 'joi';
import { defineJob } from '#core';
import { type Notice, sendNotice } from '../services/notices.ts';

declare module '#core/contract' {
  interface Jobs {
    'webhooks/send-notice': Notice;
  }
}

export default defineJob<Notice>({
  summary: 'Mails an administrator about a failing webhook',
  scope: 'platform',
  payload: Joi.object({
    webhookId: Joi.string().uuid().required(),
    userId: Joi.string().uuid().required(),
    reason: Joi.string().valid('gone', 'failed_deliveries', 'failing_for_days').allow(null).required(),
    consecutiveFailures: Joi.number().integer().required(),
  }),
  maxAttempts: 6,
  run: (ctx, notice) => sendNotice(ctx, notice),
});
