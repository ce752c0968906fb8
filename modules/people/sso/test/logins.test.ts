/** The way out to the provider and back, and what is refused on it. */
import test from 'ava';
import { tenant } from '#test';
import { Browser, CALLBACK, PUBLIC_URL } from './browser.ts';
import { person, place, startPlatform, startProvider } from './ground.ts';
import type { Somebody } from './identity-provider.ts';

const [platform, provider] = await Promise.all([startPlatform(), startProvider()]);
platform.newcomers = true;
test.after.always(async () => {
  await platform.stop();
  await provider.stop();
});

/** A tenant whose administrator stands at the provider, about to come back. */
async function underWay(more: Partial<Somebody> = {}) {
  const made = await place(platform, provider.issuer);
  const browser = new Browser(platform);
  const somebody = person(made.orgAdmin.email, more);
  const location = await browser.begin(made.orgId);
  const answer = await browser.authenticate(location, provider, somebody);
  return { ...made, browser, somebody, answer, location };
}
const errorOf = async (more: Partial<Somebody>): Promise<string | null> => {
  const { browser, answer } = await underWay(more);
  return (await browser.comeBack(answer)).error;
};

test('a member logs in through the provider, comes out with a session, and the trail knows', async (t) => {
  const { orgId, orgAdmin, provider: made } = await place(platform, provider.issuer);
  const browser = new Browser(platform);
  const { path, code } = await browser.logIn(orgId, provider, person(orgAdmin.email.toUpperCase()));
  t.is(path, '/login');
  const { status, body, headers } = await browser.exchange(code);
  t.is(status, 200);
  t.like(body, { mfaRequired: false, user: { id: orgAdmin.id, email: orgAdmin.email } });
  t.regex(headers.getSetCookie().join(), /^svc_refresh_token=.*HttpOnly; SameSite=Strict/);
  const me = await platform.call('GET', '/auth/me', { token: body.tokens.accessToken });
  t.like(me.body as object, { id: orgAdmin.id, scope: 'organization', orgId, mfaVerified: false });
  const seen = (await platform.audits({ orgId })).filter(({ actor_id }) => actor_id === orgAdmin.id);
  t.like(
    seen.find(({ action }) => action === 'user.login'),
    { details: { via: 'sso', mfa: false }, result: 'success' },
  );
  t.like(
    seen.find(({ action }) => action === 'sso.identity.link'),
    { details: { provider: made.name } },
  );
});

test('the browser is sent out with PKCE, state and nonce, and marked by a cookie that only we read', async (t) => {
  const { location, browser, provider: made } = await underWay();
  const { searchParams, origin } = new URL(location);
  t.is(origin, provider.issuer);
  t.like(Object.fromEntries(searchParams), {
    response_type: 'code',
    client_id: 'quartermaster',
    redirect_uri: CALLBACK,
    scope: 'openid profile email',
    code_challenge_method: 'S256',
  });
  for (const name of ['state', 'nonce', 'code_challenge']) t.true((searchParams.get(name) ?? '').length >= 43, name);
  t.regex(
    browser.setCookies[0] ?? '',
    /^svc_sso_state=[\w-]{43}; Max-Age=600; .*HttpOnly; SameSite=Lax; Path=\/api\/v1\/sso$/,
  );
  const rows = await platform.sql<{ all: string }>('select s::text as all from sso_sessions s where provider_id = $1', [
    made.id,
  ]);
  t.is(rows.length, 1);
  for (const secret of [searchParams.get('state'), browser.cookie.split('=')[1]]) {
    t.false(rows[0]?.all.includes(secret ?? ''), 'neither state nor cookie is readable in the database');
  }
});

test('a login ends on the page it was begun for, and only on our own', async (t) => {
  const { orgId, orgAdmin } = await place(platform, provider.issuer);
  const query = `?returnTo=${encodeURIComponent('/devices/7?tab=software')}`;
  const { path, code } = await new Browser(platform).logIn(orgId, provider, person(orgAdmin.email), query);
  t.is(path, '/devices/7?tab=software');
  t.truthy(code);
  const outside = [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    'devices',
    '/a#b',
    '/\t/evil.example',
    '/a b',
  ];
  for (const returnTo of outside) {
    const refused = await platform.call('GET', `/sso/login/${orgId}?returnTo=${encodeURIComponent(returnTo)}`);
    t.is(refused.status, 400, returnTo);
  }
});

test('an answer is good once, for the browser that began, with a state of ours, and for ten minutes', async (t) => {
  const { browser, answer, orgId, orgAdmin } = await underWay();
  t.is((await new Browser(platform).comeBack(answer)).error, 'invalid_response', 'another browser');
  t.is((await browser.comeBack(answer)).error, 'session_expired', 'the state was used up by it');

  const again = await browser.authenticate(await browser.begin(orgId), provider, person(orgAdmin.email));
  t.truthy((await browser.comeBack(again)).code);
  t.is((await browser.comeBack(again)).error, 'session_expired', 'replayed');

  const wrong = new URL(again);
  wrong.searchParams.set('state', 'x'.repeat(43));
  t.is((await browser.comeBack(wrong.href)).error, 'session_expired');
  wrong.searchParams.delete('state');
  t.is((await browser.comeBack(wrong.href)).error, 'invalid_response');

  const late = await underWay();
  await platform.sql('update sso_sessions set expires_at = now() where provider_id = $1', [late.provider.id]);
  t.is((await late.browser.comeBack(late.answer)).error, 'session_expired');
});

test('logins in two tabs of one browser both come to an end', async (t) => {
  const { orgId, orgAdmin } = await place(platform, provider.issuer);
  const browser = new Browser(platform);
  const [first, second] = [await browser.begin(orgId), await browser.begin(orgId)];
  const somebody = person(orgAdmin.email);
  t.truthy((await browser.comeBack(await browser.authenticate(second, provider, somebody))).code);
  t.truthy((await browser.comeBack(await browser.authenticate(first, provider, somebody))).code);
});

test('whoever declines, and whatever else the provider answers instead of a code, ends at the login page', async (t) => {
  t.is(await errorOf({ declines: true }), 'access_denied');
  const { browser, answer } = await underWay();
  const url = new URL(answer);
  url.searchParams.set('error', 'temporarily_unavailable');
  t.is((await browser.comeBack(url.href)).error, 'provider_error');
  const used = await underWay();
  const made = new URL(used.answer);
  made.searchParams.set('code', 'made-up');
  t.is((await used.browser.comeBack(made.href)).error, 'provider_error', 'the provider knows no such code');
});

test('an ID token for another login, another client, of another issuer or of the past is refused', async (t) => {
  t.is(await errorOf({ forge: (claims) => ({ ...claims, nonce: 'of another login' }) }), 'invalid_response');
  t.is(await errorOf({ forge: (claims) => ({ ...claims, aud: 'another-client' }) }), 'invalid_response');
  t.is(await errorOf({ forge: (claims) => ({ ...claims, iss: 'https://issuer.example' }) }), 'invalid_response');
  t.is(await errorOf({ forge: (claims) => ({ ...claims, exp: 1_700_000_000 }) }), 'invalid_response');
  t.is(await errorOf({ forge: (claims) => ({ ...claims }) }), null, 'signed again but true');
  const { browser, answer, provider: made } = await underWay();
  await platform.sql(`update sso_sessions set nonce = 'tampered' where provider_id = $1`, [made.id]);
  t.is((await browser.comeBack(answer)).error, 'invalid_response');
});

test('an ID token that the provider did not sign is refused', async (t) => {
  t.is(await errorOf({ forgeKey: true }), 'invalid_response');
});

test('user info about somebody else is refused', async (t) => {
  const other = person();
  provider.people.set(other.sub, other);
  t.is(await errorOf({ forge: (claims) => ({ ...claims, sub: other.sub }) }), 'invalid_response');
});

test('an answer that names another issuer is refused', async (t) => {
  const { browser, answer } = await underWay();
  const url = new URL(answer);
  t.is(url.searchParams.get('iss'), provider.issuer);
  url.searchParams.set('iss', 'https://issuer.example');
  t.is((await browser.comeBack(url.href)).error, 'invalid_response');
});

test('a login survives that the provider changes its signing key, also while it is under way', async (t) => {
  const own = await startProvider();
  t.teardown(() => own.stop());
  const { orgId, orgAdmin } = await place(platform, own.issuer);
  const somebody = person(orgAdmin.email);
  t.truthy((await new Browser(platform).logIn(orgId, own, somebody)).code);
  own.rotateKey();
  t.truthy((await new Browser(platform).logIn(orgId, own, somebody)).code);
  const browser = new Browser(platform);
  const answer = await browser.authenticate(await browser.begin(orgId), own, somebody);
  own.rotateKey();
  t.truthy((await browser.comeBack(answer)).code);
});

test('a provider that is down is named as such, on the way out and on the way back', async (t) => {
  const own = await startProvider();
  t.teardown(() => own.stop());
  const { orgId, orgAdmin } = await place(platform, own.issuer);
  const browser = new Browser(platform);
  const answer = await browser.authenticate(await browser.begin(orgId), own, person(orgAdmin.email));
  await own.stop();
  t.is((await browser.comeBack(answer)).error, 'provider_unreachable');
  t.is(await browser.begin(orgId), `${PUBLIC_URL}/login?error=provider_unreachable`);
  await own.start();
  t.truthy((await browser.logIn(orgId, own, person(orgAdmin.email))).code, 'and found again when it is back');
});

test('a discovery document is not asked for with each login', async (t) => {
  const own = await startProvider();
  t.teardown(() => own.stop());
  const { orgId } = await place(platform, own.issuer);
  for (let n = 0; n < 5; n += 1) await new Browser(platform).begin(orgId);
  t.deepEqual(own.requests, ['GET /.well-known/openid-configuration']);
});

test('a provider that is deactivated, removed or turned elsewhere meanwhile lets nobody in', async (t) => {
  const status = await underWay();
  const { token } = status.orgAdmin;
  await platform.call('POST', `/sso/providers/${status.provider.id}/status`, { token, body: { status: 'testing' } });
  t.is((await status.browser.comeBack(status.answer)).error, 'provider_not_found');
  t.is(await status.browser.begin(status.orgId), `${PUBLIC_URL}/login?error=provider_not_found`);

  const removed = await underWay();
  const gone = await platform.call('DELETE', `/sso/providers/${removed.provider.id}`, {
    token: removed.orgAdmin.token,
  });
  t.is(gone.status, 200);
  t.is((await removed.browser.comeBack(removed.answer)).error, 'provider_not_found');

  const turned = await underWay();
  const changed = await platform.call('PATCH', `/sso/providers/${turned.provider.id}`, {
    token: turned.orgAdmin.token,
    body: { issuer: 'https://issuer.example', clientSecret: 'another' },
  });
  t.is(changed.status, 200);
  t.is((await turned.browser.comeBack(turned.answer)).error, 'provider_not_found');
});

test('a suspended organization, one without a provider and an unknown one look alike', async (t) => {
  const suspended = await underWay();
  await platform.sql(`update organizations set status = 'suspended' where id = $1`, [suspended.orgId]);
  t.is((await suspended.browser.comeBack(suspended.answer)).error, 'provider_not_found');
  const nothing = { enabled: false, provider: null, enforceSSO: false };
  const without = await tenant(platform);
  for (const orgId of [suspended.orgId, without.orgId, '11111111-1111-4111-8111-111111111111']) {
    t.is(await new Browser(platform).begin(orgId), `${PUBLIC_URL}/login?error=provider_not_found`);
    t.deepEqual((await platform.call('GET', `/sso/check/${orgId}`)).body, nothing);
  }
});

test('the login page learns the name and type of the provider, and nothing else', async (t) => {
  const { orgId } = await place(platform, provider.issuer, { name: 'Bakery login' });
  t.deepEqual((await platform.call('GET', `/sso/check/${orgId}`)).body, {
    enabled: true,
    provider: { name: 'Bakery login', type: 'oidc' },
    enforceSSO: false,
  });
});

test('logins that nobody finished are swept away', async (t) => {
  const { provider: made } = await underWay();
  const other = await underWay();
  await platform.sql('update sso_sessions set expires_at = now() where provider_id = $1', [made.id]);
  await platform.sql(
    `select graphile_worker.add_job('sso/sweep-expired', json_build_object('orgId', null, 'requestId', 'test', 'data', '{}'::json))`,
  );
  await platform.runJobs();
  const left = await platform.sql<{ id: string }>('select provider_id as id from sso_sessions');
  t.false(left.some(({ id }) => id === made.id));
  t.true(left.some(({ id }) => id === other.provider.id));
});

test('behind https the cookie travels over https only', async (t) => {
  const secure = await startPlatform({ PUBLIC_URL: 'https://rmm.example' });
  t.teardown(() => secure.stop());
  const { orgId } = await place(secure, provider.issuer);
  const response = await fetch(`${secure.url}/api/v1/sso/login/${orgId}`, { redirect: 'manual' });
  t.regex(response.headers.getSetCookie().join(), /^svc_sso_state=.*; Secure; HttpOnly; SameSite=Lax; /);
  t.is(response.headers.get('cache-control'), 'no-store');
  const redirectUri = new URL(response.headers.get('location') ?? '').searchParams.get('redirect_uri');
  t.is(redirectUri, 'https://rmm.example/api/v1/sso/callback');
});
