/** /sso/login, /sso/callback, /sso/exchange and /sso/check: for people who are not signed in. */
import Joi from 'joi';
import { defineRoute, type Limit } from '#core';
import { loginAnswer } from '#core/auth';
import { callbackQuery, checkShape, exchangeBody, loginParams, loginQuery } from '../models/login.ts';
import { exchange } from '../services/codes.ts';
import { beginLogin, finishLogin } from '../services/logins.ts';
import { checkOrg } from '../services/serving.ts';
import { browserOf } from '../services/sessions.ts';

/** A whole office may share one address. */
const limit = (name: string, max: number): Limit[] => [{ name, max, windowSeconds: 900, by: 'ip' }];
const nothing = Joi.any().valid(null).description('A redirect');

export default [
  defineRoute({
    method: 'GET',
    path: '/sso/check/{orgId}',
    summary: 'Says whether an organization logs in through an identity provider',
    access: { open: 'the login page asks before anybody is signed in' },
    work: { platform: 'the caller is not known yet; limited to the active provider of one organization' },
    limits: limit('sso-check', 300),
    params: loginParams,
    response: checkShape,
    errors: ['RATE_LIMITED'],
    handler: (ctx, { params: { orgId } }) => checkOrg(ctx, orgId),
  }),
  defineRoute({
    method: 'GET',
    path: '/sso/login/{orgId}',
    summary: 'Redirects the browser to the identity provider of an organization',
    description: 'Failures redirect to /login?error=<code>.',
    access: { open: 'a user who logs in has no token yet' },
    work: 'none',
    limits: limit('sso-login', 100),
    params: loginParams,
    query: loginQuery,
    response: nothing,
    status: 302,
    errors: ['RATE_LIMITED'],
    handler: (ctx, { params: { orgId }, query: { returnTo = null }, cookies }) =>
      beginLogin(ctx, orgId, returnTo, browserOf(cookies)),
  }),
  defineRoute({
    method: 'GET',
    path: '/sso/callback',
    summary: 'Takes the browser back from the identity provider',
    description:
      'Redirects to the application with the fragment #ssoCode=<code>, failures to /login?error=<code>: session_expired, ' +
      'provider_not_found, domain_not_allowed, user_not_found, default_role_required, no_org_access, access_denied, ' +
      'email_missing, email_not_verified, invalid_response, link_refused, provider_error, provider_unreachable.',
    access: { open: 'a user who logs in has no token yet' },
    work: 'none',
    limits: limit('sso-callback', 100),
    query: callbackQuery,
    response: nothing,
    status: 302,
    errors: ['RATE_LIMITED'],
    handler: (ctx, { query, cookies }) => finishLogin(ctx, query, browserOf(cookies)),
  }),
  defineRoute({
    method: 'POST',
    path: '/sso/exchange',
    summary: 'Exchanges the code of the fragment for tokens, once and within 60 seconds',
    description:
      'From the browser that logged in, with its cookies. Where the user has a second factor of their own and the ' +
      'provider asked for none, the answer is a temporary token as after POST /auth/login.',
    access: { open: 'the code is the credential' },
    audit: 'user.login',
    work: { platform: 'the caller is not known yet' },
    limits: limit('sso-exchange', 100),
    payload: exchangeBody,
    response: loginAnswer,
    errors: ['SSO_CODE_INVALID', 'INVALID_CREDENTIALS', 'RATE_LIMITED'],
    handler: (ctx, { payload, cookies }) => exchange(ctx, payload.code, browserOf(cookies)),
  }),
];
