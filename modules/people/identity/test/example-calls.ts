/** Example calls of people who register, log in, show a second factor and change what they log in with. */
import { generateSync } from 'otplib';
import { type Example, type ExampleContext, type TestPlatform, tenant } from '#test';
import { mailsTo } from './messages.ts';
import { fromSomewhere, givePassword, PASSWORD, refreshCookie, registration } from './people.ts';

const NEXT_PASSWORD = 'another-Tall-lamp-4';

interface Answer {
  secret: string;
  tempToken: string;
  recoveryCodes: string[];
}

/** A platform that asks for second factors, which its people do not have yet. */
export async function accounts({ platformWith }: ExampleContext): Promise<TestPlatform> {
  const platform = await platformWith({ TRUST_PROXY_HEADERS: 'true', LOG_LEVEL: 'silent' });
  platform.newcomers = true;
  return platform;
}

export const post = <B>(platform: TestPlatform, path: string, body: object, token?: string) =>
  platform.call<B>('POST', path, { body, headers: fromSomewhere(), ...(token ? { token } : {}) });

/** A person with a password. */
async function owner(platform: TestPlatform) {
  const { orgAdmin } = await tenant(platform);
  await givePassword(platform, orgAdmin.id);
  return orgAdmin;
}

/** A person who has begun to enroll an authenticator. */
async function begun(platform: TestPlatform) {
  const user = await owner(platform);
  const { secret } = (await post<Answer>(platform, '/auth/mfa/setup', {}, user.token)).body;
  return { ...user, code: () => generateSync({ secret }) };
}

async function enrolled(platform: TestPlatform) {
  const user = await begun(platform);
  const { body } = await post<Answer>(platform, '/auth/mfa/enable', { code: user.code() }, user.token);
  return { ...user, recoveryCodes: body.recoveryCodes };
}

const login = (platform: TestPlatform, email: string) =>
  post<Answer>(platform, '/auth/login', { email, password: PASSWORD });

/** A call without a token. */
const open = (platform: TestPlatform, path: string, body: object) => ({
  platform,
  path,
  body,
  headers: fromSomewhere(),
});

export const accountCalls: Example['callsElsewhere'] = {
  async 'POST /auth/register'(context) {
    const { companyName: _, ...person } = registration();
    return open(await accounts(context), '/auth/register', person);
  },
  async 'POST /auth/register-partner'(context) {
    return open(await accounts(context), '/auth/register-partner', registration());
  },
  async 'POST /auth/login'(context) {
    const platform = await accounts(context);
    return open(platform, '/auth/login', { email: (await owner(platform)).email, password: PASSWORD });
  },
  async 'POST /auth/refresh'(context) {
    const platform = await accounts(context);
    const { pair } = refreshCookie((await login(platform, (await owner(platform)).email)).headers);
    return { platform, path: '/auth/refresh', headers: { cookie: pair, 'x-svc-csrf': '1' } };
  },
  async 'POST /auth/mfa/setup'(context) {
    const platform = await accounts(context);
    return { platform, path: '/auth/mfa/setup', token: (await owner(platform)).token, body: {} };
  },
  async 'POST /auth/change-password'(context) {
    const platform = await accounts(context);
    const { token } = await owner(platform);
    const body = { currentPassword: PASSWORD, newPassword: NEXT_PASSWORD };
    return { platform, path: '/auth/change-password', token, body };
  },
  async 'POST /auth/reset-password'(context) {
    const platform = await accounts(context);
    const { email } = await owner(platform);
    await post(platform, '/auth/forgot-password', { email });
    const [mail = ''] = await mailsTo(platform, email, 1);
    return open(platform, '/auth/reset-password', { token: /rst_[\w-]+/.exec(mail)?.[0], password: NEXT_PASSWORD });
  },
  async 'POST /auth/confirm-address'(context) {
    const platform = await accounts(context);
    const { companyName: _, ...person } = registration();
    await post(platform, '/auth/register', person);
    const [mail = ''] = await mailsTo(platform, person.email, 1);
    return open(platform, '/auth/confirm-address', { token: /adr_[\w-]+/.exec(mail)?.[0], password: PASSWORD });
  },
  async 'POST /auth/confirm-address/send'(context) {
    const platform = await accounts(context);
    const { token, id } = await owner(platform);
    await platform.sql('update users set email_proven_at = null where id = $1', [id]);
    return { platform, path: '/auth/confirm-address/send', token, body: {} };
  },
  async 'DELETE /auth/sessions/{id}'(context) {
    const platform = await accounts(context);
    const { token, email, sessionId } = await owner(platform);
    await login(platform, email);
    const { body } = await platform.call<{ data: { id: string }[] }>('GET', '/auth/sessions', { token });
    return { platform, path: `/auth/sessions/${body.data.find(({ id }) => id !== sessionId)?.id}`, token };
  },
  async 'POST /auth/mfa/enable'(context) {
    const platform = await accounts(context);
    const { token, code } = await begun(platform);
    return { platform, path: '/auth/mfa/enable', token, body: { code: code() } };
  },
  async 'POST /auth/mfa/verify'(context) {
    const platform = await accounts(context);
    const { email, recoveryCodes } = await enrolled(platform);
    const { tempToken } = (await login(platform, email)).body;
    return open(platform, '/auth/mfa/verify', { tempToken, code: recoveryCodes[0] });
  },
  async 'POST /auth/mfa/recovery-codes'(context) {
    const platform = await accounts(context);
    return { platform, path: '/auth/mfa/recovery-codes', token: (await enrolled(platform)).token, body: {} };
  },
  async 'POST /auth/mfa/disable'(context) {
    const platform = await accounts(context);
    const { id, token, code } = await enrolled(platform);
    // As if that code were of an earlier minute.
    await platform.sql('update users set mfa_last_step = null where id = $1', [id]);
    return { platform, path: '/auth/mfa/disable', token, body: { code: code() } };
  },
};
