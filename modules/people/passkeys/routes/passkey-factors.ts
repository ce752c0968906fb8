/** /auth/mfa/passkey: a passkey in place of a code, after the password. */
import { defineRoute, reply } from '#core';
import { loginAnswer } from '#core/auth';
import { ceremonyShape, factorAssertion, factorStart, MOST_BYTES } from '../models/ceremony.ts';
import { beginFactor, finishFactor } from '../services/second-factors.ts';

const access = { open: 'during a login the caller has only the temporary token' };
const work = { platform: 'the caller is not known yet' };
const limit = { max: 300, windowSeconds: 900, by: 'ip' as const };

export default [
  defineRoute({
    method: 'POST',
    path: '/auth/mfa/passkey/options',
    summary: 'Starts completing a login with a passkey; counts as an attempt',
    description: 'The options are for `PublicKeyCredential.parseRequestOptionsFromJSON()`.',
    access,
    audit: { none: 'nothing changes before the authenticator has answered' },
    work,
    limits: [{ ...limit, name: 'passkey-factor-options' }],
    payload: factorStart,
    response: ceremonyShape('PublicKeyCredentialRequestOptionsJSON'),
    errors: ['TEMP_TOKEN_INVALID', 'INVALID_STATE', 'RATE_LIMITED'],
    handler: (ctx, { payload }) => beginFactor(ctx, payload.tempToken),
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/mfa/passkey/verify',
    summary: "Completes a login with one of the user's passkeys",
    access,
    audit: 'user.login',
    work,
    limits: [{ ...limit, name: 'passkey-factor' }],
    maxBytes: MOST_BYTES,
    payload: factorAssertion,
    response: loginAnswer,
    errors: ['TEMP_TOKEN_INVALID', 'CHALLENGE_INVALID', 'PASSKEY_REFUSED', 'RATE_LIMITED'],
    handler: async (ctx, { payload }) => {
      const { body, issued } = await finishFactor(ctx, payload);
      return reply(body, { cookies: issued.cookies });
    },
  }),
];
