/** A passkey after the password. */
import { randomBytes } from 'node:crypto';
import type { PublicKeyCredentialRequestOptionsJSON as RequestOptions } from '@simplewebauthn/server';
import test from 'ava';
import { sharedPlatform } from '#test';
import { type Authenticator, type Lies, ORIGIN, softAuthenticator } from './authenticator.ts';
import { type Begun, calls, claimsOf, type LoggedIn, PASSWORD } from './people.ts';

const platform = await sharedPlatform({ TRUST_PROXY_HEADERS: 'true', PUBLIC_URL: ORIGIN });
platform.newcomers = true;
test.after.always(() => platform.stop());
const { post, owner, register, failures, givePassword, mails } = calls(platform);

const password = async (email: string) => (await post<LoggedIn>('/auth/login', { email, password: PASSWORD })).body;
const options = (tempToken: string) => post<Begun<RequestOptions>>('/auth/mfa/passkey/options', { tempToken });
async function verify(tempToken: string, key: Authenticator, lies: Lies = {}) {
  const begun = (await options(tempToken)).body;
  return post<LoggedIn>('/auth/mfa/passkey/verify', {
    tempToken,
    challengeId: begun.challengeId,
    response: key.get(begun.options, lies),
  });
}

/** Somebody with a password, an authenticator app and a passkey. */
async function enrolled() {
  const made = await owner();
  await givePassword(made.orgAdmin);
  await platform.sql(`update users set mfa_enabled = true, mfa_method = 'totp' where id = $1`, [made.orgAdmin.id]);
  return made;
}

test('the password asks for a code or a passkey, and the passkey gives full tokens', async (t) => {
  const { orgAdmin, orgId, key } = await enrolled();
  const first = await password(orgAdmin.email);
  t.like(first, { mfaRequired: true, mfaMethod: 'totp', mfaMethods: ['totp', 'passkey'] });
  const begun = (await options(first.tempToken)).body;
  t.like(begun.options, { userVerification: 'preferred' });
  t.deepEqual(begun.options.allowCredentials?.map(({ id, transports }) => ({ id, transports })) as object[], [
    { id: key.id, transports: ['internal', 'hybrid'] },
  ]);
  const body = { tempToken: first.tempToken, challengeId: begun.challengeId, response: key.get(begun.options) };
  const answer = await post<LoggedIn>('/auth/mfa/passkey/verify', body);
  t.is(answer.status, 200);
  t.false(answer.body.mfaRequired);
  t.true(answer.headers.getSetCookie().some((cookie) => cookie.startsWith('svc_refresh_token=')));
  t.like(claimsOf(answer.body.tokens.accessToken), { sub: orgAdmin.id, orgId, mfa: true });
  t.is((await post('/auth/mfa/passkey/verify', body)).body.error.code, 'TEMP_TOKEN_INVALID');
  t.is((await platform.audits({ orgId, action: 'user.login' })).length, 1);
  const [row] = await platform.sql('select attempts from mfa_attempts where user_id = $1', [orgAdmin.id]);
  t.is(row, undefined, 'a success forgets the attempts before it');
});

test('without a passkey none is offered, and a login without a second factor asks for none', async (t) => {
  const { viewer, orgAdmin, passkey } = await enrolled();
  await givePassword(viewer);
  t.false((await password(viewer.email)).mfaRequired);
  await platform.sql(`update users set mfa_enabled = true, mfa_method = 'totp' where id = $1`, [viewer.id]);
  const login = await password(viewer.email);
  t.deepEqual(login.mfaMethods, ['totp']);
  t.is((await options(login.tempToken)).status, 409);
  await platform.sql('delete from passkeys where id = $1', [passkey.id]);
  t.deepEqual((await password(orgAdmin.email)).mfaMethods, ['totp']);
});

test('presence is enough after a password, and the passkey need not say whose it is', async (t) => {
  const { orgAdmin, key } = await enrolled();
  const { tempToken } = await password(orgAdmin.email);
  t.is((await verify(tempToken, key, { verified: false, userHandle: null })).status, 200);
});

const refused: Record<string, Lies> = {
  'another origin': { origin: 'https://evil.example' },
  'another host as relying party': { rpId: 'evil.example' },
  'another challenge': { challenge: randomBytes(32).toString('base64url') },
  'no present user': { present: false },
  'the name of another user': { userHandle: randomBytes(16).toString('base64url') },
};
for (const [what, lies] of Object.entries(refused)) {
  test(`an answer with ${what} leaves the login unfinished and a failure in the trail`, async (t) => {
    const { orgAdmin, key } = await enrolled();
    const { tempToken } = await password(orgAdmin.email);
    const answer = await verify(tempToken, key, lies);
    t.is(answer.status, 401);
    t.is(answer.body.error.code, 'PASSKEY_REFUSED');
    t.is((await failures(orgAdmin)).length, 1);
    t.is((await verify(tempToken, key)).status, 200, 'the password need not be given again');
  });
}

test('the passkey of another user does not finish a login, nor does an unknown one', async (t) => {
  const { orgAdmin, key } = await enrolled();
  const other = await enrolled();
  const { tempToken } = await password(orgAdmin.email);
  t.is((await verify(tempToken, other.key)).body.error.code, 'PASSKEY_REFUSED');
  t.is((await verify(tempToken, softAuthenticator())).body.error.code, 'PASSKEY_REFUSED');
  t.deepEqual(await failures(orgAdmin), ['the passkey is not one of the user', 'the passkey is not one of the user']);
  t.deepEqual(await failures(other.orgAdmin), []);
  const theirs = await password(other.orgAdmin.email);
  const begun = (await options(theirs.tempToken)).body;
  const crossed = await post('/auth/mfa/passkey/verify', {
    tempToken,
    challengeId: begun.challengeId,
    response: key.get(begun.options),
  });
  t.is(crossed.body.error.code, 'CHALLENGE_INVALID', 'a challenge is for the login that asked for it');
});

test('a counter that does not grow is refused here as well', async (t) => {
  const { orgAdmin, key } = await enrolled();
  const first = await password(orgAdmin.email);
  t.is((await verify(first.tempToken, key, { counter: 50 })).status, 200);
  const { tempToken } = await password(orgAdmin.email);
  t.is((await verify(tempToken, key, { counter: 50 })).status, 401);
  t.regex((await failures(orgAdmin))[0] ?? '', /may be a copy/);
});

test('two answers to one challenge at once open one session', async (t) => {
  const { orgAdmin, key } = await enrolled();
  const { tempToken } = await password(orgAdmin.email);
  const { challengeId, options: asked } = (await options(tempToken)).body;
  const send = () => post('/auth/mfa/passkey/verify', { tempToken, challengeId, response: key.get(asked) });
  const statuses = (await Promise.all([send(), send()])).map(({ status }) => status);
  t.is(statuses.filter((status) => status === 200).length, 1);
});

test('attempts are counted by user together with codes, so that ten in a row have to wait', async (t) => {
  const { orgAdmin, key } = await enrolled();
  const { tempToken } = await password(orgAdmin.email);
  for (let n = 0; n < 5; n += 1) t.is((await verify(tempToken, key, { present: false })).status, 401);
  t.is((await options(tempToken)).status, 429);
  t.is((await post('/auth/mfa/verify', { tempToken, code: '000000' })).status, 429);
});

test('a temporary token that nobody gave out, or that has expired, asks for no passkey', async (t) => {
  const { orgAdmin } = await enrolled();
  t.is((await options('mfa_unknown')).body.error.code, 'TEMP_TOKEN_INVALID');
  const { tempToken } = await password(orgAdmin.email);
  await platform.sql('update mfa_challenges set expires_at = now() where user_id = $1', [orgAdmin.id]);
  t.is((await options(tempToken)).body.error.code, 'TEMP_TOKEN_INVALID');
});

test('of several passkeys any one finishes the login', async (t) => {
  const { orgAdmin, key } = await owner();
  const second = softAuthenticator();
  t.is((await register(orgAdmin.token, second)).status, 201);
  await givePassword(orgAdmin);
  await platform.sql(`update users set mfa_enabled = true, mfa_method = 'totp' where id = $1`, [orgAdmin.id]);
  for (const one of [key, second]) {
    const { tempToken } = await password(orgAdmin.email);
    t.is((await options(tempToken)).body.options.allowCredentials?.length, 2);
    t.is((await verify(tempToken, one)).status, 200);
  }
});

test('a mailed reset of the password leaves the passkey in place, confirmed address or not', async (t) => {
  const { orgAdmin, key } = await enrolled();
  await platform.sql('update users set email_proven_at = null where id = $1', [orgAdmin.id]);
  await post('/auth/forgot-password', { email: orgAdmin.email });
  const token = /rst_[\w-]+/.exec((await mails(orgAdmin.email)).join().replaceAll('=3D', '='))?.[0];
  t.is((await post('/auth/reset-password', { token, password: PASSWORD })).status, 200);
  const { tempToken, mfaMethods } = await password(orgAdmin.email);
  t.deepEqual(mfaMethods, ['totp', 'passkey']);
  t.is((await verify(tempToken, key)).status, 200);
});
