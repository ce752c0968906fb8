/** Request schemas of password change and reset. */
import Joi from 'joi';
import { named } from '#core';
import { email, newPassword } from './user.ts';

export interface PasswordChange {
  currentPassword: string;
  newPassword: string;
}
export interface AddressProof {
  token: string;
  password?: string;
}
export interface PasswordReset {
  token: string;
  password: string;
}

export const passwordChange = named(
  'PasswordChange',
  Joi.object<PasswordChange, true>({
    currentPassword: Joi.string().max(1024, 'utf8').required(),
    newPassword: newPassword.required(),
  }),
);
export const passwordForgotten = named(
  'PasswordForgotten',
  Joi.object<{ email: string }, true>({ email: email.required() }),
);
export const addressProof = named(
  'AddressProof',
  Joi.object<AddressProof, true>({
    token: Joi.string().max(200).required(),
    password: Joi.string()
      .max(1024, 'utf8')
      .description('The password of the account, for callers without an access token'),
  }),
);
export const passwordReset = named(
  'PasswordReset',
  Joi.object<PasswordReset, true>({
    token: Joi.string().max(200).required(),
    password: newPassword.required(),
  }),
);
