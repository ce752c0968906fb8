/** Calls of people with passkeys, whose authenticator is a program with real keys. */
import type { PublicKeyCredentialRequestOptionsJSON as RequestOptions } from '@simplewebauthn/server';
import { type TestPlatform, tenant } from '#test';
import { softAuthenticator } from '../../../../modules/people/passkeys/test/authenticator.ts';
import { type Begun, calls, type LoggedIn, PASSWORD } from '../../../../modules/people/passkeys/test/people.ts';
import type { Stages } from './stage.ts';

export function passkeyStages(platform: TestPlatform): Stages {
  const { begin, givePassword, loginOptions, owner, post } = calls(platform);
  /** Somebody with a passkey whose password has been asked for. */
  async function halfway() {
    const { orgAdmin, key } = await owner();
    await givePassword(orgAdmin);
    await platform.sql(`update users set mfa_enabled = true, mfa_method = 'totp' where id = $1`, [orgAdmin.id]);
    const { tempToken } = (await post<LoggedIn>('/auth/login', { email: orgAdmin.email, password: PASSWORD })).body;
    return { key, tempToken };
  }
  return {
    'POST /auth/passkeys': async () => {
      const { token } = (await tenant(platform)).orgAdmin;
      const { challengeId, options } = (await begin(token)).body;
      const response = softAuthenticator().create(options);
      return { path: '/auth/passkeys', token, body: { challengeId, name: 'Laptop', response } };
    },
    'PATCH /auth/passkeys/{id}': async () => {
      const { orgAdmin, passkey } = await owner();
      return { path: `/auth/passkeys/${passkey.id}`, token: orgAdmin.token, body: { name: 'Phone' } };
    },
    'DELETE /auth/passkeys/{id}': async () => {
      const { orgAdmin, passkey } = await owner();
      return { path: `/auth/passkeys/${passkey.id}`, token: orgAdmin.token };
    },
    'POST /auth/passkeys/login': async () => {
      const { key } = await owner();
      const { challengeId, options } = await loginOptions();
      return { path: '/auth/passkeys/login', body: { challengeId, response: key.get(options) } };
    },
    'POST /auth/mfa/passkey/options': async () => ({
      path: '/auth/mfa/passkey/options',
      body: { tempToken: (await halfway()).tempToken },
    }),
    'POST /auth/mfa/passkey/verify': async () => {
      const { key, tempToken } = await halfway();
      const begun = (await post<Begun<RequestOptions>>('/auth/mfa/passkey/options', { tempToken })).body;
      const { challengeId, options } = begun;
      return { path: '/auth/mfa/passkey/verify', body: { tempToken, challengeId, response: key.get(options) } };
    },
  };
}
