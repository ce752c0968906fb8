/** What roles and organizations demand of the second factor. */
import test from 'ava';
import { generateSync } from 'otplib';
import { type ErrorBody, orgUser, type Person, sharedPlatform, tenant, until } from '#test';
import { codeSentTo, someNumber } from './messages.ts';
import { fromSomewhere, givePassword, PASSWORD } from './people.ts';

const platform = await sharedPlatform({ TRUST_PROXY_HEADERS: 'true' });
platform.newcomers = true;
test.after.always(() => platform.stop());

interface Answer extends ErrorBody {
  secret: string;
  tempToken: string;
  recoveryCodes: string[];
  mfaRequired: boolean;
  mfaVerified: boolean;
}
const post = (path: string, { token }: Person, body: object = {}) =>
  platform.call<Answer>('POST', path, { body, headers: fromSomewhere(), token });
const work = async ({ token }: Person) => {
  const { status, body } = await platform.call<ErrorBody>('GET', '/orgs', { token });
  return status === 200 ? 'works' : body.error.code;
};
const me = async ({ token }: Person) => (await platform.call<Answer>('GET', '/auth/me', { token })).body;

async function enableSms(user: Person) {
  const number = someNumber();
  await post('/auth/phone/verify', user, { phoneNumber: number });
  await post('/auth/phone/confirm', user, { code: await codeSentTo(platform, number) });
  return { ...(await post('/auth/mfa/sms/enable', user)), number };
}
async function enableTotp(user: Person) {
  const { body } = await post('/auth/mfa/setup', user);
  return { secret: body.secret, ...(await post('/auth/mfa/enable', user, { code: generateSync(body) })) };
}
const security = (orgId: string, settings: object, { token }: Person) =>
  platform.call('PATCH', `/orgs/organizations/${orgId}`, { token, body: { settings: { security: settings } } });

test('a Force MFA role wants an authenticator: text messages do not do, and going over to one does', async (t) => {
  const { partner } = await tenant(platform);
  t.is(await work(partner), 'MFA_REQUIRED');
  t.is((await enableSms(partner)).status, 200);
  t.like(await me(partner), { mfaMethod: 'sms', mfaVerified: true, mfaRequired: true } as object);
  t.is(await work(partner), 'MFA_REQUIRED');
  const over = await enableTotp(partner);
  t.is(over.status, 200);
  await until(async () => (await work(partner)) === 'works');
  t.like(await me(partner), { mfaMethod: 'totp', mfaVerified: true, mfaRequired: false } as object);
});

test('before that everything it takes to enroll is open, and nothing else', async (t) => {
  const { partner, partnerRoleId, partnerId } = await tenant(platform);
  const open = [
    ['GET', '/auth/me'],
    ['GET', '/users/me'],
    ['GET', '/auth/sessions'],
    ['POST', '/auth/mfa/setup'],
    ['POST', '/auth/mfa/enable', { code: '000000' }],
    ['POST', '/auth/mfa/disable', { code: '000000' }],
    ['POST', '/auth/mfa/recovery-codes'],
    ['POST', '/auth/mfa/sms/enable'],
    ['POST', '/auth/phone/verify', { phoneNumber: someNumber() }],
    ['POST', '/auth/phone/confirm', { code: '000000' }],
    ['POST', '/auth/change-password', { currentPassword: 'x', newPassword: 'another-Tall-lamp-4' }],
    ['POST', '/auth/logout'],
  ] as const;
  const shut = [
    ['GET', '/orgs'],
    ['PATCH', '/users/me', { name: 'X' }],
    ['GET', '/api-keys'],
  ] as const;
  for (const [method, path, body] of shut) {
    const { status } = await platform.call(method, path, { token: partner.token, ...(body ? { body } : {}) });
    t.is(status, 428, path);
  }
  for (const [method, path, body = {}] of open) {
    const options = { token: partner.token, ...(method === 'POST' ? { body } : {}) };
    const { status } = await platform.call(method, path, options);
    t.true(status < 500 && status !== 428 && status !== 401, `${method} ${path}: ${status}`);
  }
  t.truthy(partnerRoleId && partnerId);
});

test('an organization that requires MFA is content with either method, and its change of mind counts at once', async (t) => {
  const { orgId, viewer, orgAdmin, partner } = await tenant(platform);
  await enableTotp(partner);
  await until(async () => (await work(partner)) === 'works');
  t.is(await work(viewer), 'works');
  t.is((await security(orgId, { requireMfa: true }, partner)).status, 200);
  await until(async () => (await work(viewer)) === 'MFA_REQUIRED');
  t.like(await me(viewer), { mfaRequired: true } as object);
  t.is((await enableSms(viewer)).status, 200);
  await until(async () => (await work(viewer)) === 'works');
  t.is(await work(orgAdmin), 'MFA_REQUIRED');
  const refused = await post('/auth/mfa/disable', viewer, { code: '000000' });
  t.deepEqual([refused.status, refused.body.error.code], [403, 'MFA_ENFORCED']);
  await security(orgId, { requireMfa: false }, partner);
  await until(async () => (await work(orgAdmin)) === 'works');
  t.like(await me(orgAdmin), { mfaRequired: false } as object);
});

test('where an organization of the user forbids text messages they are not switched on, and who has them is told', async (t) => {
  const { orgId, viewer, orgAdmin } = await tenant(platform);
  t.is((await enableSms(viewer)).status, 200);
  await givePassword(platform, viewer.id);
  const set = (value: object) =>
    platform.sql('update organizations set settings = $2 where id = $1', [orgId, { security: value }]);
  await set({ allowedMfaMethods: { sms: false, totp: true } });
  const refused = await enableSms(orgAdmin);
  t.deepEqual([refused.status, refused.body.error.code], [403, 'SMS_NOT_ALLOWED']);
  // Nobody is locked out: whoever has it still logs in, and is told to go over.
  t.like(await me(viewer), { mfaMethod: 'sms', mfaMethodAllowed: false } as object);
  const login = await platform.call<Answer>('POST', '/auth/login', {
    body: { email: viewer.email, password: PASSWORD },
    headers: fromSomewhere(),
  });
  t.is((await post('/auth/mfa/sms/send', viewer, { tempToken: login.body.tempToken })).status, 200);
  t.is((await enableTotp(viewer)).status, 200);
  t.like(await me(viewer), { mfaMethod: 'totp', mfaMethodAllowed: true } as object);
  await set({ allowedMfaMethods: { sms: true } });
  t.is((await post('/auth/mfa/sms/enable', orgAdmin)).status, 200);
});

test('one method is active at a time, and only a session that showed the old one goes over to the new', async (t) => {
  const { orgId } = await tenant(platform);
  const user = await orgUser(platform, { orgId });
  const { secret } = await enableTotp(user);
  const taken = await post('/auth/mfa/sms/enable', user);
  t.deepEqual([taken.status, taken.body.error.code], [409, 'INVALID_STATE']);
  t.is((await post('/auth/mfa/setup', user)).status, 409);
  await platform.sql('update users set mfa_last_step = null where id = $1', [user.id]);
  t.is((await post('/auth/mfa/disable', user, { code: generateSync({ secret }) })).status, 200);
  const sms = await enableSms(user);
  t.is(sms.status, 200);
  const verified = async (mfa: boolean) => {
    await platform.sql('update sessions set mfa = $2 where id = $1', [user.sessionId, mfa]);
    await until(async () => (await me(user)).mfaVerified === mfa);
  };
  await verified(false);
  t.is((await post('/auth/mfa/setup', user)).body.error.code, 'MFA_VERIFICATION_REQUIRED');
  await verified(true);
  const { body } = await post('/auth/mfa/setup', user);
  const code = generateSync(body);
  await verified(false);
  t.is((await post('/auth/mfa/enable', user, { code })).body.error.code, 'MFA_VERIFICATION_REQUIRED');
  await verified(true);
  t.is((await post('/auth/mfa/enable', user, { code })).status, 200);
  // What belonged to the old method is worth nothing.
  await givePassword(platform, user.id);
  const login = async () =>
    (
      await platform.call<Answer>('POST', '/auth/login', {
        body: { email: user.email, password: PASSWORD },
        headers: fromSomewhere(),
      })
    ).body;
  const { tempToken } = await login();
  t.is((await post('/auth/mfa/sms/send', user, { tempToken })).status, 409);
  const old = sms.body.recoveryCodes[0];
  t.is((await post('/auth/mfa/verify', user, { tempToken, code: old })).status, 401);
});
