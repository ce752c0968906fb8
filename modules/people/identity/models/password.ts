/** Request schemas of password change and reset. */
import Joi from 'joi';
import { email, newPassword } from './user.ts';

export interface PasswordChange {
  currentPassword: string;
  newPassword: string;
}
export interface PasswordReset {
  token: string;
  password: string;
}

export const passwordChange = Joi.object<PasswordChange, true>({
  currentPassword: Joi.string().max(1024, 'utf8').required(),
  newPassword: newPassword.required(),
});
export const passwordForgotten = Joi.object<{ email: string }, true>({ email: email.required() });
export const passwordReset = Joi.object<PasswordReset, true>({
  token: Joi.string().max(200).required(),
  password: newPassword.required(),
});
