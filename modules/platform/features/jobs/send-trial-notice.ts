/** Mails a partner that a trial ends soon. */
import Joi from 'joi';
import { defineJob } from '#core';
import { sendTrialNotice, type TrialNotice } from '../services/trial-mail.ts';

declare module '#core/contract' {
  interface Jobs {
    'features/send-trial-notice': TrialNotice;
  }
}

export default defineJob<TrialNotice>({
  summary: 'Mails a partner that the trial of a module ends soon',
  scope: 'platform',
  payload: Joi.object<TrialNotice>({
    partnerId: Joi.string().uuid().required(),
    key: Joi.string().required(),
    days: Joi.number().integer().required(),
    expiresAt: Joi.string().required(),
  }),
  maxAttempts: 5,
  run: (ctx, notice) => sendTrialNotice(ctx, notice),
});
