/** Calls of people who register, log in, show a second factor and change what they log in with. */
import { generateSync } from 'otplib';
import { ROLES, type TestPlatform, tenant } from '#test';
import { mailsTo } from '../../../../modules/people/identity/test/messages.ts';
import {
  fromSomewhere,
  givePassword,
  PASSWORD,
  refreshCookie,
  registration,
} from '../../../../modules/people/identity/test/people.ts';
import { tokenFor } from '../../../../modules/people/users/test/arrange.ts';
import type { Stages } from './stage.ts';

const NEXT = 'another-Tall-lamp-4';

interface Answer {
  secret: string;
  tempToken: string;
  recoveryCodes: string[];
}

export function accountStages(platform: TestPlatform): Stages {
  const post = (path: string, body: object, token?: string) =>
    platform.call<Answer>('POST', path, { body, headers: fromSomewhere(), ...(token ? { token } : {}) });
  /** Somebody with a password. */
  async function owner() {
    const made = await tenant(platform);
    await givePassword(platform, made.orgAdmin.id);
    return made.orgAdmin;
  }
  /** Somebody who has begun to enroll an authenticator: its secret. */
  async function begun() {
    const user = await owner();
    const { secret } = (await post('/auth/mfa/setup', {}, user.token)).body;
    return { ...user, code: () => generateSync({ secret }) };
  }
  async function enrolled() {
    const user = await begun();
    const { recoveryCodes } = (await post('/auth/mfa/enable', { code: user.code() }, user.token)).body;
    return { ...user, recoveryCodes };
  }
  const login = (email: string) => post('/auth/login', { email, password: PASSWORD });
  /** The token of an invitation that has been mailed. */
  async function invited(): Promise<string> {
    const { token } = await owner();
    const { email } = registration();
    await platform.call('POST', '/users/invite', { token, body: { email, name: 'Ada Turner', roleId: ROLES.viewer } });
    return tokenFor(platform, email);
  }
  const open = (path: string, body: object) => ({ path, body, headers: fromSomewhere() });
  return {
    'POST /auth/register': async () => {
      const { companyName: _, ...person } = registration();
      return open('/auth/register', person);
    },
    'POST /auth/register-partner': async () => open('/auth/register-partner', registration()),
    'POST /auth/login': async () => open('/auth/login', { email: (await owner()).email, password: PASSWORD }),
    'POST /auth/refresh': async () => {
      const { pair } = refreshCookie((await login((await owner()).email)).headers);
      return { path: '/auth/refresh', headers: { cookie: pair, 'x-svc-csrf': '1' } };
    },
    'POST /auth/change-password': async () => {
      const { token } = await owner();
      return { path: '/auth/change-password', token, body: { currentPassword: PASSWORD, newPassword: NEXT } };
    },
    'POST /auth/reset-password': async () => {
      const { email } = await owner();
      await post('/auth/forgot-password', { email });
      const [mail = ''] = await mailsTo(platform, email, 1);
      return open('/auth/reset-password', { token: /rst_[\w-]+/.exec(mail)?.[0], password: NEXT });
    },
    'POST /auth/invitations/check': async () => open('/auth/invitations/check', { token: await invited() }),
    'POST /auth/accept-invite': async () =>
      open('/auth/accept-invite', { token: await invited(), name: 'Ada Turner', password: PASSWORD }),
    'DELETE /auth/sessions/{id}': async () => {
      const { token, email, sessionId } = await owner();
      await login(email);
      const { body } = await platform.call<{ data: { id: string }[] }>('GET', '/auth/sessions', { token });
      return { path: `/auth/sessions/${body.data.find(({ id }) => id !== sessionId)?.id}`, token };
    },
    'POST /auth/mfa/enable': async () => {
      const { token, code } = await begun();
      return { path: '/auth/mfa/enable', token, body: { code: code() } };
    },
    'POST /auth/mfa/verify': async () => {
      const { email, recoveryCodes } = await enrolled();
      const { tempToken } = (await login(email)).body;
      return open('/auth/mfa/verify', { tempToken, code: recoveryCodes[0] });
    },
    'POST /auth/mfa/recovery-codes': async () => ({
      path: '/auth/mfa/recovery-codes',
      token: (await enrolled()).token,
      body: {},
    }),
    'POST /auth/mfa/disable': async () => {
      const { id, token, code } = await enrolled();
      // As if that code were of an earlier minute.
      await platform.sql('update users set mfa_last_step = null where id = $1', [id]);
      return { path: '/auth/mfa/disable', token, body: { code: code() } };
    },
  };
}
