/** Logging in with nothing but a passkey. */
import { randomBytes } from 'node:crypto';
import test from 'ava';
import { organization, startTestPlatform, tenant } from '#test';
import { type Lies, newKey, ORIGIN, RP_ID, softAuthenticator } from './authenticator.ts';
import { calls, claimsOf, type LoggedIn } from './people.ts';

// Without second factors: a passkey still opens, since it takes nothing else.
const platform = await startTestPlatform({ ENABLE_2FA: 'false', TRUST_PROXY_HEADERS: 'true', PUBLIC_URL: ORIGIN });
test.after.always(() => platform.stop());
const { post, login, loginOptions, register, list, owner, failures } = calls(platform);

/** Organizations that take no password, as a module for single sign-on says. */
const withProvider = new Set<string>();
const { work } = platform.platform.tasks;
const filled = work.contributions;
work.contributions = (slot) =>
  slot === 'identity.login-rule'
    ? [{ withoutPassword: async (_ctx: unknown, ids: readonly string[]) => ids.filter((id) => withProvider.has(id)) }]
    : filled(slot);

test('the options name nobody and demand a verified user', async (t) => {
  await owner();
  const { options } = await loginOptions();
  t.like(options, { rpId: RP_ID, userVerification: 'required', timeout: 300_000 });
  t.is(options.allowCredentials, undefined);
});

test('a passkey opens a session with both factors shown, and the trail says how its user came in', async (t) => {
  const { orgAdmin, orgId, key, passkey } = await owner();
  const answer = await login(key);
  t.is(answer.status, 200);
  t.like(answer.body, { mfaRequired: false, user: { id: orgAdmin.id, email: orgAdmin.email } });
  t.true(answer.headers.getSetCookie().some((cookie) => /^svc_refresh_token=.*HttpOnly/.test(cookie)));
  const { accessToken } = answer.body.tokens;
  t.like(claimsOf(accessToken), { sub: orgAdmin.id, orgId, scope: 'organization', mfa: true });
  const [shown] = (await list(accessToken)).body.data;
  t.is(shown?.id, passkey.id);
  t.truthy(shown?.lastUsedAt);
  const logins = (await platform.audits({ orgId, action: 'user.login' })).map(({ actor_id, details }) => ({
    actor_id,
    details,
  }));
  t.deepEqual(logins, [{ actor_id: orgAdmin.id, details: { scope: 'organization', mfa: true, via: 'passkey' } }]);
  t.is((await login(key)).status, 200, 'and again');
});

test('a removed passkey opens nothing, and a session it opened may add another', async (t) => {
  const { key, passkey } = await owner();
  const { accessToken: token } = (await login(key)).body.tokens;
  t.is((await platform.call('DELETE', `/auth/passkeys/${passkey.id}`, { token })).status, 200);
  t.is((await login(key)).body.error.code, 'PASSKEY_REFUSED');
  t.is((await register(token)).status, 201);
});

const stranger = newKey();
const refused: Record<string, [Lies, RegExp]> = {
  'another origin': [{ origin: 'https://evil.example' }, /origin "https:\/\/evil\.example"/],
  'another host as relying party': [{ rpId: 'evil.example' }, /RP ID/],
  'another challenge': [{ challenge: randomBytes(32).toString('base64url') }, /challenge/],
  'the other ceremony': [{ type: 'webauthn.create' }, /type/],
  'a frame of another page': [{ crossOrigin: true }, /frame/],
  'no verified user': [{ verified: false }, /verifi/],
  'no present user': [{ present: false }, /present/],
  'a signature by another key': [{ key: stranger }, /signature/],
  'the name of another user': [{ userHandle: randomBytes(16).toString('base64url') }, /another user/],
  'no name of a user': [{ userHandle: null }, /another user/],
  'another kind than was registered': [{ backupEligible: true }, /kind/],
};
for (const [what, [lies, reason]] of Object.entries(refused)) {
  test(`an answer with ${what} is refused like any other, and the trail says why`, async (t) => {
    const { orgAdmin, key, orgId } = await owner();
    const answer = await login(key, lies);
    t.is(answer.status, 401);
    t.deepEqual(answer.body.error, { code: 'PASSKEY_REFUSED', message: 'The passkey was not accepted', details: [] });
    t.deepEqual(answer.headers.getSetCookie(), []);
    const [why, ...more] = await failures(orgAdmin);
    t.regex(why ?? '', reason);
    t.deepEqual(more, []);
    t.like((await platform.audits({ orgId, action: 'user.login.failed' }))[0], {
      result: 'failure',
      details: { via: 'passkey' },
    });
    t.is((await login(key)).status, 200, 'the passkey itself is none the worse');
  });
}

test('an unknown passkey and a disabled user get the same answer as a wrong signature', async (t) => {
  const { orgAdmin, key } = await owner();
  const wrong = await login(key, { key: stranger });
  const unknown = await login(softAuthenticator());
  await platform.sql(`update users set status = 'disabled' where id = $1`, [orgAdmin.id]);
  const disabled = await login(key);
  t.deepEqual([unknown.status, disabled.status], [401, 401]);
  t.deepEqual(unknown.body, wrong.body);
  t.deepEqual(disabled.body, wrong.body);
  t.is((await failures(orgAdmin)).at(-1), 'the user is not active');
});

test('an answer opens once: neither again, nor twice at the same time, nor after five minutes', async (t) => {
  const { key } = await owner();
  const { challengeId, options } = await loginOptions();
  const response = key.get(options);
  const use = () => post<LoggedIn>('/auth/passkeys/login', { challengeId, response });
  const both = await Promise.all([use(), use(), use()]);
  t.deepEqual(both.map(({ status }) => status).sort(), [200, 400, 400]);
  t.is((await use()).body.error.code, 'CHALLENGE_INVALID');

  const failed = await loginOptions();
  const send = (lies: Lies) =>
    post('/auth/passkeys/login', { challengeId: failed.challengeId, response: key.get(failed.options, lies) });
  t.is((await send({ verified: false })).status, 401);
  t.is((await send({})).body.error.code, 'CHALLENGE_INVALID', 'a wrong answer uses it up as well');

  const late = await loginOptions();
  await platform.sql('update passkey_challenges set expires_at = now() where id = $1', [late.challengeId]);
  const tooLate = await post('/auth/passkeys/login', {
    challengeId: late.challengeId,
    response: key.get(late.options),
  });
  t.is(tooLate.body.error.code, 'CHALLENGE_INVALID');
});

test('a challenge made for registering opens nothing', async (t) => {
  const { orgAdmin, key } = await owner();
  const begun = await post<{ challengeId: string; options: { challenge: string } }>(
    '/auth/passkeys/options',
    {},
    orgAdmin.token,
  );
  const response = key.get(begun.body.options);
  const answer = await post('/auth/passkeys/login', { challengeId: begun.body.challengeId, response });
  t.is(answer.body.error.code, 'CHALLENGE_INVALID');
});

test('a counter that does not grow betrays a copied passkey, and both are told apart by the higher one', async (t) => {
  const { orgAdmin, key } = await owner();
  t.is((await login(key, { counter: 10 })).status, 200);
  for (const counter of [10, 9, 0]) t.is((await login(key, { counter })).status, 401, `${counter}`);
  t.true((await failures(orgAdmin)).every((why) => why.includes('may be a copy')));
  t.is((await login(key, { counter: 11 })).status, 200);
  const [row] = await platform.sql('select counter from passkeys where credential_id = $1', [key.id]);
  t.is(Number(row?.counter), 11);
});

test('a forged answer neither moves the counter nor passes for a copy', async (t) => {
  const { orgAdmin, key } = await owner();
  t.is((await login(key, { counter: 10 })).status, 200);
  t.is((await login(key, { counter: 99, key: stranger })).status, 401);
  t.is((await login(key, { counter: 3, key: stranger })).status, 401);
  t.true((await failures(orgAdmin)).every((why) => why.includes('signature')));
  t.is((await login(key, { counter: 11 })).status, 200);
});

test('of two answers with the same counter at once one is refused', async (t) => {
  const { key } = await owner();
  const both = await Promise.all([login(key, { counter: 20 }), login(key, { counter: 20 })]);
  t.deepEqual(both.map(({ status }) => status).sort(), [200, 401]);
});

test('an authenticator without a counter logs in again and again', async (t) => {
  const { key } = await owner({ counts: false, backupEligible: true });
  t.is((await login(key)).status, 200);
  t.is((await login(key)).status, 200);
});

test('the caller names the place, else it is the one that a password would lead to', async (t) => {
  const { partner, partnerId, orgId } = await tenant(platform);
  const key = softAuthenticator();
  t.is((await register(partner.token, key)).status, 201);
  await platform.sql(
    `insert into organization_users (org_id, user_id, role_id) select $1, $2, role_id from organization_users limit 1`,
    [orgId, partner.id],
  );
  t.like(claimsOf((await login(key)).body.tokens.accessToken), { partnerId, scope: 'partner' });
  const named = await login(key, {}, { orgId });
  t.like(claimsOf(named.body.tokens.accessToken), { orgId, scope: 'organization' });
  const other = await organization(platform, partnerId);
  t.is((await login(key, {}, { orgId: other.orgId })).status, 403);
  await platform.sql('delete from partner_users where user_id = $1', [partner.id]);
  await platform.sql('delete from organization_users where user_id = $1', [partner.id]);
  t.is((await login(key)).body.error.message, 'Partner or organization context required');
});

test('an organization that logs in through its identity provider takes no passkey either', async (t) => {
  const { key, orgId } = await owner();
  withProvider.add(orgId);
  for (const more of [{}, { orgId }]) {
    const answer = await login(key, {}, more);
    t.is(answer.status, 403);
    t.is(answer.body.error.code, 'SSO_REQUIRED');
  }
  withProvider.delete(orgId);
  t.is((await login(key)).status, 200);
});

test('an answer that is no answer is refused by path', async (t) => {
  const { challengeId } = await loginOptions();
  const answer = await post('/auth/passkeys/login', { challengeId, response: { id: '***', type: 'password' } });
  t.is(answer.status, 400);
  const paths = answer.body.error.details.map(({ path }) => path);
  for (const path of ['response.id', 'response.rawId', 'response.type', 'response.response']) {
    t.true(paths.includes(path), path);
  }
});

test('one address begins at most 300 logins in 15 minutes', async (t) => {
  const headers = { 'x-forwarded-for': '2001:db8::7' };
  const statuses = new Map<number, number>();
  for (let n = 0; n < 31; n += 1) {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => platform.call('POST', '/auth/passkeys/login/options', { body: {}, headers })),
    );
    for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  t.deepEqual([statuses.get(200), statuses.get(429)], [300, 10]);
});
