/** A request was not decided in time. */
import Joi from 'joi';
import { defineEvent } from '#core';
import { ABOUT, ABOUT_EXAMPLE, type AboutApproval, noticeKey, noticeLink } from '../models/told.ts';

interface Expired extends AboutApproval {
  askerPermission: string;
}

export default defineEvent({
  summary: 'What waited for the decision of a second person was not decided in time',
  data: Joi.object<Expired>({ ...ABOUT, askerPermission: Joi.string().required() }),
  example: { ...ABOUT_EXAMPLE, askerPermission: 'devices:execute' },
  webhook: { kind: 'approval.expired', pick: ['approvalId', 'kind', 'title', 'subject', 'askedBy'] },
  notice: {
    settles: ({ approvalId }) => noticeKey(approvalId),
    tell: {
      type: 'security',
      priority: 'high',
      permission: ({ askerPermission }) => askerPermission,
      render: ({ approvalId, title, askedBy }) => ({
        title: `Not decided in time: ${title}`,
        message: 'It was not carried out. Ask again if it is still needed.',
        link: noticeLink(approvalId),
        metadata: { approvalId },
        dedupeKey: `${noticeKey(approvalId)}:expired`,
        only: [askedBy.userId],
      }),
    },
  },
});
