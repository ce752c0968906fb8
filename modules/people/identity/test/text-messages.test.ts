/** Text messages as second factor: switched on, used to log in, switched off. */
import test from 'ava';
import { type ErrorBody, type Person, sharedPlatform, tenant, until } from '#test';
import { codeSentTo, otherThan, someNumber, textsTo } from './messages.ts';
import { fromSomewhere, givePassword, PASSWORD } from './people.ts';

const platform = await sharedPlatform({ TRUST_PROXY_HEADERS: 'true' });
platform.newcomers = true;
test.after.always(() => platform.stop());

interface Answer extends ErrorBody {
  mfaRequired: boolean;
  mfaMethod: string;
  tempToken: string;
  phone: string;
  recoveryCodes: string[];
  retryAfter: number;
  tokens: { accessToken: string };
}
const post = (path: string, body: object, token?: string) =>
  platform.call<Answer>('POST', path, { body, headers: fromSomewhere(), ...(token ? { token } : {}) });
const login = async ({ email }: Person) => (await post('/auth/login', { email, password: PASSWORD })).body;
const send = (tempToken: string) => post('/auth/mfa/sms/send', { tempToken });
const answer = (tempToken: string, code: string) => post('/auth/mfa/verify', { tempToken, code });

/** A user of an organization whose second factor is a phone. */
async function withPhone() {
  const made = await tenant(platform);
  const { orgAdmin } = made;
  await givePassword(platform, orgAdmin.id);
  const number = someNumber();
  await post('/auth/phone/verify', { phoneNumber: number }, orgAdmin.token);
  await post('/auth/phone/confirm', { code: await codeSentTo(platform, number) }, orgAdmin.token);
  const enabled = await post('/auth/mfa/sms/enable', {}, orgAdmin.token);
  if (enabled.status !== 200) throw new Error(`not enabled: ${enabled.body.error.code}`);
  return { ...made, user: orgAdmin, number, recoveryCodes: enabled.body.recoveryCodes };
}

test('it takes a verified number, and verifies this session and no other', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const early = await post('/auth/mfa/sms/enable', {}, orgAdmin.token);
  t.deepEqual([early.status, early.body.error.code], [409, 'INVALID_STATE']);
  const { user, number } = await withPhone();
  const { body } = await platform.call<Answer>('GET', '/auth/me', { token: user.token });
  t.like(body as object, {
    mfaEnabled: true,
    mfaMethod: 'sms',
    mfaVerified: true,
    mfaRequired: false,
    mfaMethodAllowed: true,
    phoneNumber: `•••${number.slice(-4)}`,
  });
  t.is((await post('/auth/mfa/sms/enable', {}, user.token)).status, 409);
  t.truthy(orgId);
});

test('a login asks for a code by message, and each temporary token, code and recovery code works once', async (t) => {
  const { user, number, recoveryCodes } = await withPhone();
  const first = await login(user);
  t.like(first, {
    mfaRequired: true,
    mfaMethod: 'sms',
    mfaMethods: ['sms'],
    phone: `•••${number.slice(-4)}`,
  } as object);
  t.is((await answer(first.tempToken, '000000')).body.error.code, 'INVALID_MFA_CODE');
  const asked = await send(first.tempToken);
  t.deepEqual([asked.status, asked.body as object], [200, { success: true, phone: `•••${number.slice(-4)}` }]);
  const code = await codeSentTo(platform, number, 2);
  t.regex((await textsTo(platform, number, 2))[1] ?? '', /\d{6} logs you in/);
  t.is((await answer(first.tempToken, otherThan(code))).status, 401);
  const raced = await Promise.all([answer(first.tempToken, code), answer(first.tempToken, code)]);
  t.deepEqual(raced.map(({ status }) => status).sort(), [200, 401]);
  const token = raced.find(({ status }) => status === 200)?.body.tokens.accessToken ?? '';
  t.like((await platform.call('GET', '/auth/me', { token })).body as object, { mfaVerified: true });
  const second = await login(user);
  t.is((await answer(second.tempToken, code)).status, 401);
  t.is((await answer(second.tempToken, recoveryCodes[0] ?? '')).status, 200);
  t.is((await answer((await login(user)).tempToken, recoveryCodes[0] ?? '')).status, 401);
  const vias = (await platform.audits({ action: 'user.login' })).filter((row) => row.actor_id === user.id);
  t.deepEqual(
    vias.map((row) => row.details.via),
    ['sms', 'recovery code'],
  );
});

test('a code is good for its own purpose and login only', async (t) => {
  const { user, number } = await withPhone();
  const [one, two] = [await login(user), await login(user)];
  await send(one.tempToken);
  const forOne = await codeSentTo(platform, number, 2);
  await send(two.tempToken);
  const forTwo = await codeSentTo(platform, number, 3);
  t.is((await answer(two.tempToken, forOne)).status, 401);
  t.is((await post('/auth/mfa/disable', { code: forOne }, user.token)).status, 400);
  t.is((await post('/auth/phone/confirm', { code: forOne }, user.token)).status, 400);
  await post('/auth/phone/verify', { phoneNumber: number }, user.token);
  const forPhone = await codeSentTo(platform, number, 4);
  t.is((await answer(one.tempToken, forPhone)).status, 401);
  t.is((await post('/auth/mfa/disable', { code: forPhone }, user.token)).status, 400);
  t.is((await answer(one.tempToken, forOne)).status, 200);
  t.is((await answer(two.tempToken, forTwo)).status, 200);
});

test('after five wrong tries the code is worthless, and a new one is not', async (t) => {
  const { user, number } = await withPhone();
  const { tempToken } = await login(user);
  await send(tempToken);
  const code = await codeSentTo(platform, number, 2);
  for (let n = 0; n < 5; n += 1) t.is((await answer(tempToken, otherThan(code))).status, 401);
  t.is((await answer(tempToken, code)).status, 401);
  await send(tempToken);
  t.is((await answer(tempToken, await codeSentTo(platform, number, 3))).status, 200);
});

test('three messages for one login, ten an hour to one number', async (t) => {
  const { user } = await withPhone();
  const refused = ({ status, body, headers }: Awaited<ReturnType<typeof send>>) => {
    t.is(status, 429);
    t.true(body.retryAfter > 0);
    t.is(headers.get('retry-after'), String(body.retryAfter));
  };
  for (const count of [3, 3, 3, 1]) {
    const { tempToken } = await login(user);
    for (let n = 0; n < count; n += 1) t.is((await send(tempToken)).status, 200);
    refused(await send(tempToken));
  }
});

test('a message is sent to nobody who has not shown a password or an access token', async (t) => {
  const { user, partner } = await withPhone();
  t.is((await send('mfa_nothing')).body.error.code, 'TEMP_TOKEN_INVALID');
  t.is((await post('/auth/mfa/sms/send', {})).status, 401);
  t.is((await post('/auth/mfa/sms/send', {}, 'no.such.token')).status, 401);
  t.is((await post('/auth/mfa/sms/send', {}, partner.token)).body.error.code, 'INVALID_STATE');
  const { tempToken } = await login(user);
  await platform.sql('update mfa_challenges set expires_at = now() where user_id = $1', [user.id]);
  t.is((await send(tempToken)).status, 401);
  await platform.sql(
    `update organizations set status = 'suspended' where id =
    (select org_id from organization_users where user_id = $1)`,
    [user.id],
  );
  t.is((await post('/auth/mfa/sms/send', {}, user.token)).body.error.code, 'ORG_ACCESS_DENIED');
});

test('it is disabled with a code sent to this session, which clears phone and recovery codes', async (t) => {
  const { user, number } = await withPhone();
  t.is((await post('/auth/mfa/disable', { code: '000000' }, user.token)).status, 400);
  t.is((await post('/auth/mfa/sms/send', {}, user.token)).status, 200);
  const code = await codeSentTo(platform, number, 2);
  t.regex((await textsTo(platform, number, 2))[1] ?? '', /switches two-factor authentication off/);
  const disabled = await post('/auth/mfa/disable', { code }, user.token);
  t.deepEqual([disabled.status, disabled.body as object], [200, { success: true, mfaEnabled: false }]);
  const [row] = await platform.sql(
    `select mfa_enabled, mfa_method, mfa_secret, mfa_recovery_codes, phone_number, phone_verified from users where id = $1`,
    [user.id],
  );
  t.deepEqual(row, {
    mfa_enabled: false,
    mfa_method: null,
    mfa_secret: null,
    mfa_recovery_codes: null,
    phone_number: null,
    phone_verified: false,
  });
  t.is((await post('/auth/mfa/disable', { code }, user.token)).status, 400);
  t.false((await login(user)).mfaRequired);
  await until(async () => !(await platform.call<{ mfaVerified: boolean }>('GET', '/auth/me', user)).body.mfaVerified);
});
