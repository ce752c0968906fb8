/** People with passkeys and passwords, and the calls that the tests of this module share. */
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  PublicKeyCredentialCreationOptionsJSON as CreationOptions,
  PublicKeyCredentialRequestOptionsJSON as RequestOptions,
} from '@simplewebauthn/server';
import { hashPassword } from '#core/auth';
import { type ErrorBody, type Person, type PlatformClient, tenant } from '#test';
import { type Authenticator, type Lies, softAuthenticator } from './authenticator.ts';

export const PASSWORD = 'quite-a-Long-horse-9';
export const NOWHERE = '00000000-0000-4000-8000-0000000000ff';

export interface Begun<O> {
  challengeId: string;
  options: O;
}
export interface Shown {
  id: string;
  name: string;
  credentialId: string;
  deviceType: string;
  backedUp: boolean;
  transports: string[];
  aaguid: string;
  lastUsedAt: string | null;
}
export interface LoggedIn {
  mfaRequired: boolean;
  tempToken: string;
  mfaMethod: string;
  mfaMethods: string[];
  tokens: { accessToken: string };
}

/** A platform's calls; each comes from an address of its own, so that limits by address do not mix tests. */
export function calls(platform: PlatformClient) {
  const post = <B = unknown>(path: string, body: object, token?: string) =>
    platform.call<B & ErrorBody>('POST', path, {
      body,
      headers: { 'x-forwarded-for': `2001:db8:${randomUUID().slice(0, 4)}:${randomUUID().slice(0, 4)}::1` },
      ...(token ? { token } : {}),
    });
  const begin = (token: string) => post<Begun<CreationOptions>>('/auth/passkeys/options', {}, token);
  const finish = (token: string, challengeId: string, response: object, name = 'Laptop') =>
    post<{ data: Shown }>('/auth/passkeys', { challengeId, name, response }, token);
  /** Both steps, the authenticator telling these lies. */
  const register = async (token: string, key: Authenticator = softAuthenticator(), lies: Lies = {}) => {
    const { challengeId, options } = (await begin(token)).body;
    return finish(token, challengeId, key.create(options, lies));
  };
  const loginOptions = async () => (await post<Begun<RequestOptions>>('/auth/passkeys/login/options', {})).body;
  const login = async (key: Authenticator, lies: Lies = {}, more: object = {}) => {
    const { challengeId, options } = await loginOptions();
    return post<LoggedIn>('/auth/passkeys/login', { challengeId, response: key.get(options, lies), ...more });
  };
  return {
    post,
    begin,
    finish,
    register,
    loginOptions,
    login,
    list: (token: string) => platform.call<{ data: Shown[] }>('GET', '/auth/passkeys', { token }),
    /** An administrator of an organization with one passkey. */
    async owner(options: Parameters<typeof softAuthenticator>[0] = {}) {
      const { orgAdmin, ...rest } = await tenant(platform);
      const key = softAuthenticator(options);
      const made = await register(orgAdmin.token, key);
      if (made.status !== 201) throw new Error(`not registered: ${JSON.stringify(made.body)}`);
      return { ...rest, orgAdmin, key, passkey: made.body.data };
    },
    async givePassword(person: Person): Promise<void> {
      await platform.sql('update users set password_hash = $2 where id = $1', [
        person.id,
        await hashPassword(PASSWORD),
      ]);
    },
    /** Failed logins of a person in the trail, by reason. */
    async failures(person: Person): Promise<string[]> {
      await platform.audits();
      const rows = await platform.sql<{ error_message: string }>(
        `select error_message from audit_logs where action = 'user.login.failed' and resource_id = $1 order by seq`,
        [person.id],
      );
      return rows.map((row) => row.error_message);
    },
    /** The mails to an address, as sent. */
    async mails(email: string): Promise<string[]> {
      await platform.runJobs();
      const folder = join(platform.dataDir, 'mail');
      const names = (await readdir(folder).catch(() => [])).sort();
      const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
      return texts.filter((text) => text.includes(email)).map((text) => text.replaceAll(/=\r?\n/g, ''));
    },
  };
}

/** The claims of an access token. */
export const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
