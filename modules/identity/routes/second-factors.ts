/** /auth/mfa: enrolling, using and removing the second factor (spec/1-identity, Auth). */
import Joi from 'joi';
import { defineRoute, reply } from '#core';
import { tokensShape } from '../models/session.ts';
import { userShape } from '../models/user.ts';
import { answerChallenge } from '../services/mfa-challenges.ts';
import {
  beginSetup,
  confirmOwnSetup,
  confirmSetupByBearer,
  disableMfa,
  renewRecoveryCodes,
} from '../services/mfa-setups.ts';

const own = { permission: null, why: 'the second factor is the own one', apiKey: false, beforeMfa: true };
const work = { platform: 'tenant work may not read the columns of the second factor; limited to the own user' };

interface Code {
  code: string;
}
const code = Joi.string()
  .trim()
  .pattern(/^\d{6}$/)
  .required()
  .messages({ 'string.pattern.base': '{{#label}} must have 6 digits' });
const codeOnly = Joi.object<Code>({ code });
const recoveryCodes = Joi.array().items(Joi.string()).description('Shown only here');
const enabled = Joi.object({
  success: Joi.boolean().required(),
  mfaEnabled: Joi.boolean().required(),
  recoveryCodes: recoveryCodes.required(),
});
const loggedIn = Joi.object({
  user: userShape.required(),
  tokens: tokensShape.required(),
  mfaRequired: Joi.boolean().required(),
});

export default [
  defineRoute({
    method: 'POST',
    path: '/auth/mfa/setup',
    summary: 'Begins to enroll an authenticator app; waits 10 minutes for the first code',
    access: own,
    audit: 'auth.mfa.setup',
    work,
    response: Joi.object({
      secret: Joi.string().required(),
      otpAuthUrl: Joi.string().required(),
      qrCodeDataUrl: Joi.string().required(),
      recoveryCodes: recoveryCodes.required(),
    }),
    errors: ['INVALID_STATE'],
    handler: (ctx, { headers }) => beginSetup(ctx, headers.authorization),
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/mfa/verify',
    summary: 'Finishes a login with a code, or confirms the setup that the same access token began',
    description: 'With `tempToken`: logs in; `code` may also be a recovery code. Without: confirms the waiting setup.',
    access: { open: 'in the middle of a login there is only the temporary token' },
    audit: { none: 'records user.login or auth.mfa.setup, whichever it finishes' },
    work: { platform: 'the caller is not known yet' },
    payload: Joi.object<Code & { tempToken?: string }>({
      code: Joi.string().trim().min(6).max(20).required(),
      tempToken: Joi.string().max(200),
    }),
    response: Joi.alternatives(loggedIn, enabled),
    errors: ['TEMP_TOKEN_INVALID', 'INVALID_MFA_CODE', 'INVALID_CODE', 'INVALID_STATE', 'RATE_LIMITED'],
    handler: async (ctx, { payload, headers }) => {
      const { code: given, tempToken } = payload;
      if (!tempToken) return confirmSetupByBearer(ctx, given, headers.authorization);
      const { body, issued } = await answerChallenge(ctx, { code: given, tempToken });
      return reply(body, { cookies: issued.cookies });
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/mfa/enable',
    summary: 'Confirms the waiting setup; from then on each login asks for a code',
    access: own,
    audit: 'auth.mfa.setup',
    work,
    payload: codeOnly,
    response: enabled,
    errors: ['INVALID_CODE', 'INVALID_STATE', 'RATE_LIMITED'],
    handler: (ctx, { payload }) => confirmOwnSetup(ctx, payload.code),
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/mfa/disable',
    summary: 'Removes the authenticator, the phone and the recovery codes',
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
    errors: ['INVALID_STATE'],
    handler: (ctx) => renewRecoveryCodes(ctx),
  }),
];
