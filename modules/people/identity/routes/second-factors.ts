/** /auth/mfa: enrolling, using and removing the second factor. */
import Joi from 'joi';
import { defineRoute, reply } from '#core';
import { loginAnswer } from '#core/auth';
import { type Code, codeOnly, enabledShape, recoveryCodes } from '../models/factor.ts';
import { answerChallenge } from '../services/access/mfa-challenges.ts';
import { beginSetup, confirmOwnSetup, confirmSetupByBearer } from '../services/factors/mfa-setups.ts';
import { renewRecoveryCodes } from '../services/factors/recovery-codes.ts';
import { disableMfa } from '../services/factors/second-factors.ts';
import { enableSms, sendFactorCode } from '../services/factors/sms-factors.ts';

const own = { permission: null, why: 'callers manage their own second factor', apiKey: false, beforeMfa: true };
const work = { platform: 'the tenant role cannot read the columns of the second factor; limited to the caller' };
const unknownCaller = { platform: 'the caller is not known yet' };
const tempToken = Joi.string().max(200);

export default [
  defineRoute({
    method: 'POST',
    path: '/auth/mfa/setup',
    summary: 'Starts the setup of an authenticator app, which waits 10 minutes for its first code',
    description:
      'Requires a login within the last 15 minutes. When the method is text messages, a session that passed MFA may switch to an authenticator.',
    access: own,
    audit: 'auth.mfa.setup',
    work,
    response: Joi.object({
      secret: Joi.string().required(),
      otpAuthUrl: Joi.string().required(),
      qrCodeDataUrl: Joi.string().required(),
      recoveryCodes: recoveryCodes.required(),
    }),
    errors: ['INVALID_STATE', 'MFA_VERIFICATION_REQUIRED', 'REAUTHENTICATION_REQUIRED'],
    handler: (ctx) => beginSetup(ctx),
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/mfa/verify',
    summary: 'Completes a login with a code, or confirms a pending authenticator setup',
    description:
      'With `tempToken`: logs in; `code` may also be a recovery code. Without: confirms the setup of the user of the access token.',
    access: { open: 'during a login the caller has only the temporary token' },
    audit: { none: 'records user.login or auth.mfa.setup, whichever it finishes' },
    work: unknownCaller,
    payload: Joi.object<Code & { tempToken?: string }>({
      code: Joi.string().trim().min(6).max(20).required(),
      tempToken,
    }),
    response: Joi.alternatives(loginAnswer, enabledShape),
    errors: [
      ...['TEMP_TOKEN_INVALID', 'INVALID_MFA_CODE', 'INVALID_CODE', 'INVALID_STATE', 'RATE_LIMITED'],
      ...['UNAUTHENTICATED', 'MFA_VERIFICATION_REQUIRED'],
    ],
    handler: async (ctx, { payload, headers }) => {
      const { code: given, tempToken: token } = payload;
      if (!token) return confirmSetupByBearer(ctx, given, headers.authorization);
      const { body, issued } = await answerChallenge(ctx, { code: given, tempToken: token });
      return reply(body, { cookies: issued.cookies });
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/mfa/enable',
    summary: 'Confirms the pending setup; every later login asks for a code',
    access: own,
    audit: 'auth.mfa.setup',
    work,
    payload: codeOnly,
    response: enabledShape,
    errors: ['MFA_VERIFICATION_REQUIRED', 'INVALID_CODE', 'INVALID_STATE', 'RATE_LIMITED'],
    handler: (ctx, { payload }) => confirmOwnSetup(ctx, payload.code),
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/mfa/disable',
    summary: 'Removes the second factor, the phone and the recovery codes',
    description: 'Takes a code of the authenticator, or one sent by POST /auth/mfa/sms/send for this access token.',
    access: own,
    audit: 'auth.mfa.disable',
    work,
    payload: codeOnly,
    response: Joi.object({ success: Joi.boolean().required(), mfaEnabled: Joi.boolean().required() }),
    errors: ['INVALID_CODE', 'MFA_ENFORCED', 'RATE_LIMITED'],
    handler: (ctx, { payload }) => disableMfa(ctx, payload.code),
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/mfa/recovery-codes',
    summary: 'Replaces all recovery codes',
    access: { ...own, mfa: true },
    audit: 'auth.mfa.recovery_codes.rotate',
    work,
    response: Joi.object({ recoveryCodes: recoveryCodes.required() }),
    errors: ['INVALID_STATE', 'REAUTHENTICATION_REQUIRED'],
    handler: (ctx) => renewRecoveryCodes(ctx),
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/mfa/sms/enable',
    summary: 'Makes text messages to the verified phone the second factor',
    access: own,
    audit: 'auth.mfa.setup',
    work,
    response: enabledShape,
    errors: ['INVALID_STATE', 'SMS_NOT_ALLOWED', 'REAUTHENTICATION_REQUIRED'],
    handler: (ctx) => enableSms(ctx),
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/mfa/sms/send',
    summary: 'Sends a code by text message, to complete a login or to disable MFA',
    description:
      'With `tempToken` the code finishes that login; with an access token instead it is good for POST /auth/mfa/disable in that session.',
    access: { open: 'during a login the caller has only the temporary token' },
    audit: { none: 'nothing changes; the use of the code is recorded' },
    work: unknownCaller,
    payload: Joi.object<{ tempToken?: string } | null, false>({ tempToken }).allow(null),
    response: Joi.object({ success: Joi.boolean().required(), phone: Joi.string().required() }),
    errors: [
      ...['TEMP_TOKEN_INVALID', 'UNAUTHENTICATED', 'INVALID_STATE', 'RATE_LIMITED'],
      ...['ORG_ACCESS_DENIED', 'PARTNER_INACTIVE'],
    ],
    handler: (ctx, { payload, headers }) => sendFactorCode(ctx, payload?.tempToken, headers.authorization),
  }),
];
