/** A person who can log in, as the API shows and accepts one. */
import Joi from 'joi';
import { emailAddress, named } from '#core';

/** The columns that a login needs; readable only by the platform's role. */
export interface LoginUser {
  id: string;
  email: string;
  name: string;
  passwordHash: string | null;
  status: 'active' | 'invited' | 'disabled';
  mfaEnabled: boolean;
  mfaMethod: 'totp' | 'sms' | null;
  /** The last four digits of the verified number. */
  phone: string | null;
}
export const LOGIN_COLUMNS = `users.id, users.email, users.name, users.password_hash as "passwordHash", users.status,
  users.mfa_enabled as "mfaEnabled", users.mfa_method as "mfaMethod",
  case when users.phone_verified then '•••' || right(users.phone_number, 4) end as phone`;

export interface Credentials {
  email: string;
  password: string;
  orgId?: string;
  partnerId?: string;
}
export interface NewAccount {
  name: string;
  email: string;
  password: string;
  acceptTerms?: boolean;
}
export interface NewPartnerAccount extends NewAccount {
  companyName: string;
  acceptTerms: boolean;
}
export interface ProfileUpdate {
  name?: string;
  avatarUrl?: string | null;
}

export const email = emailAddress.lowercase();
export const newPassword = Joi.string().min(8).max(1024, 'utf8').messages({
  'string.min': 'Password must be at least 8 characters',
  'string.max': 'Password must be at most 1024 bytes',
});
const name = Joi.string().trim().min(1).max(255);

export const credentials = named(
  'Credentials',
  Joi.object<Credentials, true>({
    email: Joi.string().trim().lowercase().max(255).required(),
    password: Joi.string().max(1024, 'utf8').required(),
    orgId: Joi.string().uuid().description('The organization to log into, for users of several'),
    partnerId: Joi.string().uuid().description('The partner to log into, for users of several'),
  }),
);
export const newAccount = named(
  'AccountCreate',
  Joi.object<NewAccount, true>({
    name: name.required(),
    email: email.required(),
    password: newPassword.required(),
    acceptTerms: Joi.boolean().strict(),
  }),
);
export const newPartnerAccount = named(
  'PartnerAccountCreate',
  Joi.object<NewPartnerAccount, true>({
    companyName: Joi.string().trim().min(2).max(255).required(),
    name: name.required(),
    email: email.required(),
    password: newPassword.required(),
    acceptTerms: Joi.boolean().strict().valid(true).required().messages({ 'any.only': 'The terms must be accepted' }),
  }),
);
export const profileUpdate = named(
  'ProfileUpdate',
  Joi.object<ProfileUpdate, true>({
    name,
    avatarUrl: Joi.string()
      .uri({ scheme: ['https', 'http'] })
      .max(2048)
      .allow(null),
  }),
);

export const userShape = named(
  'UserBrief',
  Joi.object({
    id: Joi.string().uuid().required(),
    email: Joi.string().required(),
    name: Joi.string().required(),
    mfaEnabled: Joi.boolean().required(),
  }),
);
export const profileShape = named(
  'Profile',
  userShape.keys({
    avatarUrl: Joi.string().allow(null).required(),
    status: Joi.string().required(),
    emailConfirmed: Joi.boolean()
      .required()
      .description('Whether the user opened a link that was mailed to the address'),
    mfaMethod: Joi.string().valid('totp', 'sms').allow(null).required(),
    phoneNumber: Joi.string().allow(null).required().description('The last four digits'),
    phoneVerified: Joi.boolean().required(),
    lastLoginAt: Joi.date().iso().allow(null).required(),
    passwordChangedAt: Joi.date().iso().allow(null).required(),
    createdAt: Joi.date().iso().required(),
    updatedAt: Joi.date().iso().required(),
  }),
);
export const meShape = named(
  'Me',
  profileShape.keys({
    scope: Joi.string().valid('system', 'partner', 'organization').required(),
    partnerId: Joi.string().uuid().allow(null).required(),
    partnerStatus: Joi.string()
      .valid('pending', 'active', 'suspended', 'churned')
      .allow(null)
      .required()
      .description(
        'Of the partner of this session. While it is not `active`, only this operation and the sessions are open',
      ),
    orgId: Joi.string().uuid().allow(null).required(),
    roleId: Joi.string().uuid().required(),
    roleName: Joi.string().required(),
    permissions: Joi.array()
      .items(Joi.string())
      .required()
      .description('Pairs of the catalog, inherited ones included'),
    pendingPhoneNumber: Joi.string()
      .allow(null)
      .required()
      .description('The last four digits of a number that is not confirmed yet'),
    mfaMethodAllowed: Joi.boolean()
      .required()
      .description(
        'False when an organization of the user no longer allows the active method: enroll an authenticator',
      ),
    mfaVerified: Joi.boolean().required().description('Whether this session passed the second factor'),
    mfaRequired: Joi.boolean().required().description('Whether an authenticator must be enrolled first'),
  }),
);
