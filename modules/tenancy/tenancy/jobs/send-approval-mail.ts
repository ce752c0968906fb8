/** Mails one person about a registered partner that waits for approval, or about the decision. */
import Joi from 'joi';
import { defineJob } from '#core';
import { APPROVAL_MAILS, type ApprovalMail, sendApprovalMail } from '../services/partner-approvals.ts';

declare module '#core/contract' {
  interface Jobs {
    'tenancy/send-approval-mail': ApprovalMail;
  }
}

export default defineJob<ApprovalMail>({
  summary: 'Mails about a partner that waits for approval, or about the decision',
  scope: 'platform',
  payload: Joi.object<ApprovalMail>({
    kind: Joi.string()
      .valid(...APPROVAL_MAILS)
      .required(),
    partnerId: Joi.string().uuid().required(),
    userId: Joi.string().uuid().required(),
  }),
  maxAttempts: 5,
  run: (ctx, mail) => sendApprovalMail(ctx, mail),
});
