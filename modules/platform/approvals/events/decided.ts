/** A second person approved or rejected a request. */
import Joi from 'joi';
import { defineEvent } from '#core';
import { ABOUT, ABOUT_EXAMPLE, type AboutApproval, noticeKey, noticeLink } from '../models/told.ts';

interface Decided extends AboutApproval {
  decision: 'approved' | 'rejected';
  decidedBy: { userId: string; name: string };
  reason: string | null;
  /** What the asker has. */
  askerPermission: string;
}

export default defineEvent({
  summary: 'A second person approved or rejected what waited for it',
  data: Joi.object<Decided>({
    ...ABOUT,
    decision: Joi.string().valid('approved', 'rejected').required(),
    decidedBy: Joi.object({ userId: Joi.string().uuid().required(), name: Joi.string().required() }).required(),
    reason: Joi.string().allow(null).required(),
    askerPermission: Joi.string().required(),
  }),
  example: {
    ...ABOUT_EXAMPLE,
    decision: 'approved',
    decidedBy: { userId: '7c9e6679-7425-40de-944b-000000000004', name: 'Grace' },
    reason: null,
    askerPermission: 'devices:execute',
  },
  webhook: {
    kind: 'approval.decided',
    pick: ['approvalId', 'kind', 'title', 'subject', 'askedBy', 'decision', 'decidedBy', 'reason'],
  },
  notice: {
    settles: ({ approvalId }) => noticeKey(approvalId),
    tell: {
      type: 'security',
      priority: 'high',
      permission: ({ askerPermission }) => askerPermission,
      render: ({ approvalId, title, decision, decidedBy, reason, askedBy }) => ({
        title: `${decision === 'approved' ? 'Approved' : 'Rejected'}: ${title}`,
        message: `By ${decidedBy.name}${reason ? `: ${reason}` : ''}.`,
        link: noticeLink(approvalId),
        metadata: { approvalId },
        dedupeKey: `${noticeKey(approvalId)}:decided`,
        only: [askedBy.userId],
      }),
    },
  },
});
