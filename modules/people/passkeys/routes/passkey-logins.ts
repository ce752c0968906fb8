/** /auth/passkeys/login: logging in with a passkey alone. */
import { defineRoute, reply } from '#core';
import { loginAnswer } from '#core/auth';
import { ceremonyShape, MOST_BYTES, passkeyLogin } from '../models/ceremony.ts';
import { beginLogin, loginWithPasskey } from '../services/logins.ts';

const access = { open: 'a caller who logs in has no token yet' };
const work = { platform: 'the caller is not known yet' };
// Passkeys cannot be guessed: this limits the load, and leaves room for an office behind one address.
const limit = { max: 300, windowSeconds: 900, by: 'ip' as const };

export default [
  defineRoute({
    method: 'POST',
    path: '/auth/passkeys/login/options',
    summary: 'Starts a login without a password',
    description: 'Pass the options to `PublicKeyCredential.parseRequestOptionsFromJSON()`; they identify no user.',
    access,
    audit: { none: 'nothing changes before the authenticator has answered' },
    work,
    limits: [{ ...limit, name: 'passkey-login-options' }],
    response: ceremonyShape('PublicKeyCredentialRequestOptionsJSON'),
    errors: ['RATE_LIMITED'],
    handler: (ctx) => beginLogin(ctx),
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/passkeys/login',
    summary: 'Logs in with a passkey whose authenticator has verified the user',
    access,
    audit: 'user.login',
    work,
    limits: [{ ...limit, name: 'passkey-login' }],
    maxBytes: MOST_BYTES,
    payload: passkeyLogin,
    response: loginAnswer,
    errors: ['CHALLENGE_INVALID', 'FORBIDDEN', 'PASSKEY_REFUSED', 'SSO_REQUIRED', 'RATE_LIMITED'],
    handler: async (ctx, { payload }) => {
      const { body, issued } = await loginWithPasskey(ctx, payload);
      return reply(body, issued ? { cookies: issued.cookies } : {});
    },
  }),
];
