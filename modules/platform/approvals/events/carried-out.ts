/** What was approved was carried out, or could not be. */
import Joi from 'joi';
import { defineEvent } from '#core';
import { ABOUT, ABOUT_EXAMPLE, type AboutApproval, noticeKey, noticeLink } from '../models/told.ts';

interface CarriedOut extends AboutApproval {
  outcome: 'done' | 'failed';
  code: string | null;
  message: string | null;
  askerPermission: string;
}

export default defineEvent({
  summary: 'What was approved was carried out, or failed',
  data: Joi.object<CarriedOut>({
    ...ABOUT,
    outcome: Joi.string().valid('done', 'failed').required(),
    code: Joi.string().allow(null).required().description('Why it failed'),
    message: Joi.string().allow(null).required(),
    askerPermission: Joi.string().required(),
  }),
  example: { ...ABOUT_EXAMPLE, outcome: 'done', code: null, message: null, askerPermission: 'devices:execute' },
  webhook: {
    kind: 'approval.carried_out',
    pick: ['approvalId', 'kind', 'title', 'subject', 'askedBy', 'outcome', 'code', 'message'],
  },
  notice: {
    tell: {
      type: 'security',
      priority: 'high',
      permission: ({ askerPermission }) => askerPermission,
      render: ({ approvalId, title, outcome, message, askedBy }) =>
        outcome === 'done'
          ? null
          : {
              title: `Approved and not carried out: ${title}`,
              message: message ?? '',
              link: noticeLink(approvalId),
              metadata: { approvalId },
              dedupeKey: `${noticeKey(approvalId)}:failed`,
              only: [askedBy.userId],
            },
    },
  },
});
