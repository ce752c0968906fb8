/** An invitation to an organization or a partner; no account or membership exists before it is accepted. */
import Joi from 'joi';
import { emailAddress, Model, named, printedText } from '#core';
import { type LimitFields, type Limits, limitFields, type OrgAccess } from './limits.ts';

export class Invitation extends Model implements Limits {
  static override tableName = 'invitations';
  static override partnerOwned = true;
  declare id: string;
  declare orgId: string | null;
  declare partnerId: string | null;
  declare email: string;
  declare name: string;
  declare roleId: string;
  declare siteIds: string[] | null;
  declare deviceGroupIds: string[] | null;
  declare orgAccess: OrgAccess | null;
  declare orgIds: string[];
  declare tokenHash: string | null;
  declare expiresAt: Date;
  declare invitedBy: string | null;
  declare createdAt: Date;
  declare updatedAt: Date;
}

/** The tenant to administer, when it is not the caller's own. */
export interface NamedTenant {
  orgId?: string;
  partnerId?: string;
}
export interface InviteCreate extends NamedTenant, LimitFields {
  email: string;
  name: string;
  roleId: string;
}
export interface Resend extends NamedTenant {
  userId: string;
}
export interface Acceptance {
  token: string;
  name?: string;
  password?: string;
}

export const namedTenant = {
  orgId: Joi.string().uuid().description('For partner and system callers: an organization'),
  partnerId: Joi.string().uuid().description('For system callers: a partner'),
};
/** Part of a mail, so it is a single line. */
export const personName = printedText(255).min(1);
const token = Joi.string().max(200).required().description('The token of the mailed link');

export const inviteCreate = named(
  'InvitationCreate',
  Joi.object<InviteCreate, true>({
    email: emailAddress.lowercase().required(),
    name: personName.required(),
    roleId: Joi.string().uuid().required(),
    ...namedTenant,
    ...limitFields,
  }),
);
export const resend = named(
  'InvitationResend',
  Joi.object<Resend, true>({ userId: Joi.string().uuid().required(), ...namedTenant }),
);
export const check = named('InvitationCheck', Joi.object<{ token: string }, true>({ token }));
export const acceptance = named(
  'InvitationAcceptance',
  Joi.object<Acceptance, true>({
    token,
    name: personName.description("For a new account; the invitation's when absent"),
    password: Joi.string().min(8).max(1024, 'utf8').description('Only for a new account').messages({
      'string.min': 'Password must be at least 8 characters',
      'string.max': 'Password must be at most 1024 bytes',
    }),
  }),
);

export const invitationShape = named(
  'Invitation',
  Joi.object({
    email: Joi.string().required(),
    name: Joi.string().required(),
    tenant: Joi.object({
      kind: Joi.string().valid('organization', 'partner').required(),
      name: Joi.string().required(),
    }).required(),
    accountExists: Joi.boolean().required().description('If true, send no password: log in with the account'),
    passwordRequired: Joi.boolean().required(),
    confirmationRequired: Joi.boolean()
      .required()
      .description('If true, the account of the address must confirm it before the invitation can be accepted'),
    expiresAt: Joi.date().iso().required(),
  }),
);
