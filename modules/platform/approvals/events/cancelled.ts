/** A request ended without a decision: its asker took it back, asked for something else, or is not there any more. */
import Joi from 'joi';
import { defineEvent } from '#core';
import { ABOUT, ABOUT_EXAMPLE, type AboutApproval, noticeKey } from '../models/told.ts';

interface Cancelled extends AboutApproval {
  reason: string | null;
}

export default defineEvent({
  summary: 'What waited for the decision of a second person was taken back',
  data: Joi.object<Cancelled>({ ...ABOUT, reason: Joi.string().allow(null).required() }),
  example: { ...ABOUT_EXAMPLE, reason: null },
  webhook: { kind: 'approval.cancelled' },
  notice: { settles: ({ approvalId }) => noticeKey(approvalId) },
});
