/** /auth/change-password, /auth/forgot-password, /auth/reset-password. */
import Joi from 'joi';
import { defineRoute, reply } from '#core';
import { passwordChange, passwordForgotten, passwordReset } from '../models/password.ts';
import { clearedCookie } from '../services/access/sessions.ts';
import { changePassword, resetPassword } from '../services/accounts/password-resets.ts';

const success = Joi.object({ success: Joi.boolean().required(), message: Joi.string() });
const HOUR = 3600;

export default [
  defineRoute({
    method: 'POST',
    path: '/auth/change-password',
    summary: "Changes the caller's password and ends every session",
    access: { permission: null, why: 'callers change their own password', apiKey: false, beforeMfa: true },
    audit: 'user.password.change',
    work: { platform: 'the tenant role cannot read password hashes; limited to the caller' },
    limits: [{ name: 'change-password', max: 10, windowSeconds: 900, by: 'actor' }],
    payload: passwordChange,
    response: success,
    errors: ['CURRENT_PASSWORD_WRONG', 'WEAK_PASSWORD'],
    handler: async (ctx, { payload }) => {
      await changePassword(ctx, payload);
      return reply({ success: true }, { cookies: clearedCookie });
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/forgot-password',
    summary: 'Mails a reset link that is valid for one hour; the response does not reveal whether the address is known',
    access: { open: 'a user who forgot the password cannot log in' },
    audit: { none: 'nothing changes, and an entry would reveal which addresses exist' },
    limits: [
      { name: 'forgot-password', max: 10, windowSeconds: HOUR, by: 'ip' },
      {
        name: 'forgot-password-email',
        max: 5,
        windowSeconds: HOUR,
        by: ({ payload }: { payload: { email: string } }) => payload.email,
      },
    ],
    payload: passwordForgotten,
    response: success,
    errors: ['RATE_LIMITED'],
    // The job looks the address up: doing it here would reveal by its timing whether the address exists.
    handler: (ctx, { payload }) => {
      ctx.addJob('identity/send-reset', payload, { orgId: null });
      return { success: true, message: 'If the address is known, a link is on its way.' };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/reset-password',
    summary: 'Sets a new password with the token of a reset link and ends every session',
    access: { open: 'the token of the link is the credential' },
    audit: 'user.password.reset',
    work: { platform: 'the caller is not known yet' },
    limits: [{ name: 'reset-password', max: 20, windowSeconds: HOUR, by: 'ip' }],
    payload: passwordReset,
    response: success,
    errors: ['RESET_TOKEN_INVALID', 'WEAK_PASSWORD', 'RATE_LIMITED'],
    handler: async (ctx, { payload }) => {
      await resetPassword(ctx, payload);
      return reply({ success: true }, { cookies: clearedCookie });
    },
  }),
];
