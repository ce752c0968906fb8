/** What the contract tests need to know of the operations on passkeys: calls of people whose authenticator is a program. */
import type { PublicKeyCredentialRequestOptionsJSON as RequestOptions } from '@simplewebauthn/server';
import { type Example, type ExampleContext, type TestPlatform, tenant } from '#test';
import { softAuthenticator } from './authenticator.ts';
import { type Begun, calls, type LoggedIn, PASSWORD } from './people.ts';

/** A platform that asks for second factors. */
const accounts = ({ platformWith }: ExampleContext): Promise<TestPlatform> =>
  platformWith({ TRUST_PROXY_HEADERS: 'true', LOG_LEVEL: 'silent' });

/** A person with a passkey who has given the password. */
async function halfway(platform: TestPlatform) {
  const { givePassword, owner, post } = calls(platform);
  const { orgAdmin, key } = await owner();
  await givePassword(orgAdmin);
  await platform.sql(`update users set mfa_enabled = true, mfa_method = 'totp' where id = $1`, [orgAdmin.id]);
  const { tempToken } = (await post<LoggedIn>('/auth/login', { email: orgAdmin.email, password: PASSWORD })).body;
  return { key, tempToken };
}

const registered = { test: 'registrations.test.ts', why: 'requires a registered passkey' };

const example: Example = {
  callsElsewhere: {
    async 'POST /auth/passkeys'(context) {
      const platform = await accounts(context);
      const { token } = (await tenant(platform)).orgAdmin;
      const { challengeId, options } = (await calls(platform).begin(token)).body;
      const response = softAuthenticator().create(options);
      return { platform, path: '/auth/passkeys', token, body: { challengeId, name: 'Laptop', response } };
    },
    async 'PATCH /auth/passkeys/{id}'(context) {
      const platform = await accounts(context);
      const { orgAdmin, passkey } = await calls(platform).owner();
      return { platform, path: `/auth/passkeys/${passkey.id}`, token: orgAdmin.token, body: { name: 'Phone' } };
    },
    async 'DELETE /auth/passkeys/{id}'(context) {
      const platform = await accounts(context);
      const { orgAdmin, passkey } = await calls(platform).owner();
      return { platform, path: `/auth/passkeys/${passkey.id}`, token: orgAdmin.token };
    },
    async 'POST /auth/passkeys/login'(context) {
      const platform = await accounts(context);
      const { loginOptions, owner } = calls(platform);
      const { key } = await owner();
      const { challengeId, options } = await loginOptions();
      return { platform, path: '/auth/passkeys/login', body: { challengeId, response: key.get(options) } };
    },
    async 'POST /auth/mfa/passkey/options'(context) {
      const platform = await accounts(context);
      const { tempToken } = await halfway(platform);
      return { platform, path: '/auth/mfa/passkey/options', body: { tempToken } };
    },
    async 'POST /auth/mfa/passkey/verify'(context) {
      const platform = await accounts(context);
      const { key, tempToken } = await halfway(platform);
      const begun = await calls(platform).post<Begun<RequestOptions>>('/auth/mfa/passkey/options', { tempToken });
      const { challengeId, options } = begun.body;
      const body = { tempToken, challengeId, response: key.get(options) };
      return { platform, path: '/auth/mfa/passkey/verify', body };
    },
  },
  testedIn: {
    'POST /auth/passkeys': { test: 'registrations.test.ts', why: 'requires an authenticator' },
    'PATCH /auth/passkeys/{id}': registered,
    'DELETE /auth/passkeys/{id}': registered,
  },
  withoutObject: { '/auth/passkeys/{id}': 'the own passkeys: only a registration makes one' },
};
export default example;
