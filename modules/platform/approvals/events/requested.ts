/** A request waits for the decision of a second person. */
import Joi from 'joi';
import { defineEvent } from '#core';
import { ABOUT, ABOUT_EXAMPLE, type AboutApproval, noticeKey, noticeLink } from '../models/told.ts';

interface Requested extends AboutApproval {
  reason: string | null;
  expiresAt: string;
  /** What deciders need. */
  permission: string;
}

export default defineEvent({
  summary: 'Something waits for the decision of a second person',
  data: Joi.object<Requested>({
    ...ABOUT,
    reason: Joi.string().allow(null).required(),
    expiresAt: Joi.string().isoDate().required(),
    permission: Joi.string().required(),
  }),
  example: {
    ...ABOUT_EXAMPLE,
    reason: 'Kernel update of this week',
    expiresAt: '2026-01-02T09:00:00.000Z',
    permission: 'devices:execute',
  },
  webhook: {
    kind: 'approval.requested',
    pick: ['approvalId', 'kind', 'title', 'subject', 'askedBy', 'reason', 'expiresAt'],
  },
  notice: {
    tell: {
      type: 'security',
      // Mailed and not held back by quiet hours: it expires.
      priority: 'urgent',
      permission: ({ permission }) => permission,
      render: ({ approvalId, title, askedBy, reason, expiresAt }) => ({
        title: `Approval needed: ${title}`,
        message: `${askedBy.name} asks for it${reason ? `: ${reason}` : ''}. It expires at ${expiresAt}.`,
        link: noticeLink(approvalId),
        metadata: { approvalId },
        dedupeKey: noticeKey(approvalId),
      }),
    },
  },
});
