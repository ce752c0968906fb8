/** /auth/login, /auth/refresh, /auth/logout. */
import Joi from 'joi';
import { defineRoute, REFRESH_COOKIE, reply } from '#core';
import { loginAnswer, tokensShape } from '#core/auth';
import { credentials } from '../models/user.ts';
import { loginLimits } from '../services/access/login-limits.ts';
import { login } from '../services/access/logins.ts';
import { refreshSession } from '../services/access/refreshes.ts';
import { clearedCookie, logout } from '../services/access/sessions.ts';

const refreshBody = Joi.object<{ refreshToken?: string } | null, false>({
  refreshToken: Joi.string().max(200).description('For programs without cookies'),
}).allow(null);

export default [
  defineRoute({
    method: 'POST',
    path: '/auth/login',
    summary: 'Logs in with email and password',
    description: 'With MFA on, the answer is a temporary token for POST /auth/mfa/verify, valid 5 minutes.',
    access: { open: 'a caller who logs in has no token yet' },
    audit: 'user.login',
    work: { platform: 'the caller is not known yet' },
    limits: loginLimits,
    payload: credentials,
    response: loginAnswer,
    errors: ['FORBIDDEN', 'INVALID_CREDENTIALS', 'SSO_REQUIRED', 'RATE_LIMITED'],
    handler: async (ctx, { payload }) => {
      const { body, issued } = await login(ctx, payload);
      return reply(body, issued ? { cookies: issued.cookies } : {});
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/refresh',
    summary: 'Replaces the token pair',
    description: 'Send the refresh token as a cookie together with the header x-svc-csrf, or in the body.',
    access: { open: 'the refresh token is the credential' },
    audit: {
      none: 'a refresh changes nothing for the user; a token that is used twice is recorded as auth.refresh.reuse',
    },
    work: 'none',
    payload: refreshBody,
    response: Joi.object({ tokens: tokensShape.required() }),
    errors: ['CSRF_REQUIRED', 'REFRESH_INVALID', 'PARTNER_INACTIVE', 'ORG_ACCESS_DENIED'],
    handler: async (ctx, { payload, cookies, headers }) => {
      const body = payload?.refreshToken;
      const issued = await refreshSession(ctx, { body, cookie: cookies[REFRESH_COOKIE], csrf: headers['x-svc-csrf'] });
      const tokens = { ...issued.tokens, ...(body ? { refreshToken: issued.refreshToken } : {}) };
      return reply({ tokens }, body ? {} : { cookies: issued.cookies });
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/logout',
    summary: 'Ends every session of the caller',
    access: { permission: null, why: 'everyone may leave', apiKey: false, beforeMfa: true, whileSuspended: true },
    audit: 'user.logout',
    work: { platform: 'the tenant role cannot read sessions' },
    response: Joi.object({ success: Joi.boolean().required() }),
    handler: async (ctx) => {
      await logout(ctx);
      return reply({ success: true }, { cookies: clearedCookie });
    },
  }),
];
