/** What the events of this module have in common. */
import Joi from 'joi';

export interface AboutApproval {
  approvalId: string;
  kind: string;
  title: string;
  subject: { type: string; id: string };
  askedBy: { userId: string; apiKeyId: string | null; name: string };
}

const uuid = Joi.string().uuid();
export const ABOUT = {
  approvalId: uuid.required(),
  kind: Joi.string().required(),
  title: Joi.string().required(),
  subject: Joi.object({ type: Joi.string().required(), id: uuid.required() }).required(),
  askedBy: Joi.object({
    userId: uuid.required(),
    apiKeyId: uuid.allow(null).required(),
    name: Joi.string().required(),
  }).required(),
};
export const ABOUT_EXAMPLE: AboutApproval = {
  approvalId: '7c9e6679-7425-40de-944b-000000000001',
  kind: 'device-commands.bulk',
  title: 'reboot for 120 devices',
  subject: { type: 'bulk-command', id: '7c9e6679-7425-40de-944b-000000000002' },
  askedBy: { userId: '7c9e6679-7425-40de-944b-000000000003', apiKeyId: null, name: 'Ada' },
};

/** Of the notice to deciders, which is not mailed any more once the request has ended. */
export const noticeKey = (approvalId: string): string => `approval:${approvalId}`;
/** The page of the console. */
export const noticeLink = (approvalId: string): string => `/approvals/${approvalId}`;
