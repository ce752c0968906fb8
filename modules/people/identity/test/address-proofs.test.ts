/** Whose address an account has, and what a mailed link may do to what guards the account. */
import test from 'ava';
import { generateSync } from 'otplib';
import { type ErrorBody, type PlatformClient, sharedPlatform, until } from '#test';
import { codeSentTo, mailsTo, someNumber } from './messages.ts';
import { fromSomewhere, PASSWORD, type Registered, registration } from './people.ts';

const platform: PlatformClient = await sharedPlatform({ TRUST_PROXY_HEADERS: 'true' });
test.after.always(() => platform.stop());

const NEXT = 'another-Tall-lamp-4';
interface Answer extends Registered, ErrorBody {
  secret: string;
  mfaRequired: boolean;
  mfaMethod: string;
  tempToken: string;
  recoveryCodes: string[];
  emailConfirmed: boolean;
}
const post = (path: string, body: object, token?: string) =>
  platform.call<Answer>('POST', path, { body, headers: fromSomewhere(), ...(token ? { token } : {}) });
const login = (email: string, password: string) => post('/auth/login', { email, password });
const me = async (token: string) => (await platform.call<Answer>('GET', '/auth/me', { token })).body;

/** The newest token of this kind that was mailed to an address. */
async function mailed(email: string, kind: 'adr' | 'rst', count: number): Promise<string> {
  const mails = await mailsTo(platform, email, count);
  const tokens = mails.flatMap((mail) => new RegExp(`${kind}_[\\w-]+`).exec(mail)?.[0] ?? []);
  return tokens.at(-1) ?? '';
}

/** A partner that registered; its address is not confirmed. */
async function registered() {
  const body = registration();
  const made = await post('/auth/register-partner', body);
  return { email: body.email, id: made.body.user.id, token: made.body.tokens.accessToken };
}

/** The same with an authenticator, a phone and recovery codes. */
async function guarded() {
  const user = await registered();
  const number = someNumber();
  await post('/auth/phone/verify', { phoneNumber: number }, user.token);
  await post('/auth/phone/confirm', { code: await codeSentTo(platform, number) }, user.token);
  const { secret } = (await post('/auth/mfa/setup', {}, user.token)).body;
  const enabled = await post('/auth/mfa/enable', { code: generateSync({ secret }) }, user.token);
  return { ...user, number, secret, recoveryCodes: enabled.body.recoveryCodes };
}

async function reset(email: string, password: string, mails: number) {
  await post('/auth/forgot-password', { email });
  return post('/auth/reset-password', { token: await mailed(email, 'rst', mails), password });
}
const stored = async (id: string) =>
  (
    await platform.sql(
      `select mfa_enabled as on, mfa_secret is not null as secret, phone_verified as phone, phone_number as number,
         jsonb_array_length(mfa_recovery_codes) as codes, email_proven_at is not null as proven from users where id = $1`,
      [id],
    )
  )[0];

test('a mailed reset leaves authenticator, phone and recovery codes of a self-registered partner in place', async (t) => {
  const user = await guarded();
  const before = await stored(user.id);
  t.like(before, { on: true, secret: true, phone: true, number: user.number, proven: false });
  // Mails so far: the address, the phone, the authenticator; then the link.
  t.is((await reset(user.email, NEXT, 4)).status, 200);
  t.deepEqual(await stored(user.id), before, 'the link proves the mailbox, not the factor');
  const entered = await login(user.email, NEXT);
  t.like(entered.body, { mfaRequired: true, mfaMethod: 'totp' });
  t.false('tokens' in entered.body);
  const code = user.recoveryCodes[0] ?? '';
  t.is((await post('/auth/mfa/verify', { tempToken: entered.body.tempToken, code })).status, 200);
});

test('a reset keeps codes that were tried counted', async (t) => {
  const user = await guarded();
  const wrong = async (password: string) => {
    const { tempToken } = (await login(user.email, password)).body;
    return (await post('/auth/mfa/verify', { tempToken, code: '000000' })).status;
  };
  for (let n = 0; n < 10; n += 1) await wrong(PASSWORD);
  t.is(await wrong(PASSWORD), 429);
  t.is((await reset(user.email, NEXT, 4)).status, 200);
  t.is(await wrong(NEXT), 429);
});

test('a reset proves the address of an account that no factor guards', async (t) => {
  const user = await registered();
  t.is((await reset(user.email, NEXT, 2)).status, 200);
  t.like(await stored(user.id), { on: false, proven: true });
  t.is((await login(user.email, PASSWORD)).status, 401);
  const { tokens } = (await login(user.email, NEXT)).body;
  t.true((await me(tokens.accessToken)).emailConfirmed);
  t.is((await post('/auth/confirm-address/send', {}, tokens.accessToken)).body.error.code, 'INVALID_STATE');
});

test('registration mails a link, which confirms the address once with a session of the account', async (t) => {
  const [user, other] = [await registered(), await registered()];
  t.false((await me(user.token)).emailConfirmed);
  const [mail = ''] = await mailsTo(platform, user.email, 1);
  t.regex(mail, /\/confirm-address\?token=adr_/);
  t.notRegex(mail, /Ada Turner/, 'a person who registers the address does not choose what is written to it');
  const older = await mailed(user.email, 'adr', 1);
  t.is((await post('/auth/confirm-address/send', {}, user.token)).status, 200);
  const token = await mailed(user.email, 'adr', 2);
  t.not(token, older);
  const confirm = (using: string, access?: string) => post('/auth/confirm-address', { token: using }, access);
  t.is((await confirm(older, user.token)).body.error.code, 'ADDRESS_PROOF_INVALID');
  t.is((await confirm(token)).status, 401, 'the link alone is not enough');
  t.is((await confirm(token, other.token)).status, 401);
  t.is((await confirm(token, user.token)).status, 200);
  t.true((await me(user.token)).emailConfirmed);
  t.is((await confirm(token, user.token)).body.error.code, 'ADDRESS_PROOF_INVALID');
  const [entry] = (await platform.audits({ action: 'user.email.confirm' })).filter(
    ({ actor_id: by }) => by === user.id,
  );
  t.like(entry, { resource_id: user.id });
});

test('an account with a factor is confirmed by a session that showed it, and by no password', async (t) => {
  const user = await guarded();
  const token = await mailed(user.email, 'adr', 3);
  t.is((await post('/auth/confirm-address', { token, password: PASSWORD })).status, 401);
  await platform.sql('update sessions set mfa = false where user_id = $1', [user.id]);
  const unverified = await post('/auth/confirm-address', { token }, user.token);
  t.is(unverified.body.error.code, 'MFA_VERIFICATION_REQUIRED');
  await platform.sql('update sessions set mfa = true where user_id = $1', [user.id]);
  t.is((await post('/auth/confirm-address', { token }, user.token)).status, 200);
});

test('an account without a place is confirmed with its password', async (t) => {
  const { companyName: _, ...body } = registration();
  await post('/auth/register', body);
  const token = await mailed(body.email, 'adr', 1);
  const confirm = (password: string) => post('/auth/confirm-address', { token, password });
  t.is((await confirm('wrong')).body.error.code, 'INVALID_CREDENTIALS');
  t.is((await confirm(PASSWORD)).status, 200);
});

test('a link that is too old confirms nothing and is swept', async (t) => {
  const user = await registered();
  const token = await mailed(user.email, 'adr', 1);
  await platform.sql('update address_proofs set expires_at = now() where user_id = $1', [user.id]);
  t.is((await post('/auth/confirm-address', { token }, user.token)).body.error.code, 'ADDRESS_PROOF_INVALID');
  await platform.sql(`update users set status = 'disabled' where id = $1`, [user.id]);
  await until(async () => (await post('/auth/confirm-address/send', {}, user.token)).status === 401);
});
