/** Providers that answer badly, want their secret otherwise, or point where nobody may go. */
import test, { type ExecutionContext } from 'ava';
import { tenant } from '#test';
import { Browser, CALLBACK, PUBLIC_URL } from './browser.ts';
import { type Answer, activeProvider, bodyOf, person, place, startPlatform, startProvider } from './ground.ts';
import { staticProvider } from './static-provider.ts';

const platform = await startPlatform();
platform.newcomers = true;
const owner = await tenant(platform);
test.after.always(() => platform.stop());

/** What a test of such a provider says is wrong. */
async function faultOf(t: ExecutionContext, ...parts: Parameters<typeof staticProvider>): Promise<string> {
  const provider = await staticProvider(...parts);
  t.teardown(() => provider.stop());
  const { token } = owner.orgAdmin;
  const body = bodyOf(provider.issuer, { name: provider.issuer });
  const made = await platform.call<Answer>('POST', '/sso/providers', { token, body });
  const path = `/sso/providers/${made.body.data.id}/test`;
  const tested = await platform.call<{ error?: { code: string; message: string } }>('POST', path, { token });
  t.is(tested.status, 200);
  return tested.body.error?.code ?? 'none';
}

test('a test names what a discovery document lacks', async (t) => {
  for (const endpoint of ['authorization_endpoint', 'token_endpoint', 'jwks_uri']) {
    t.is(await faultOf(t, { [endpoint]: null }), 'ENDPOINT_MISSING', endpoint);
  }
  t.is(await faultOf(t, { response_types_supported: ['id_token'] }), 'UNSUPPORTED_PROVIDER');
  t.is(await faultOf(t, { issuer: 'https://issuer.example' }), 'ISSUER_MISMATCH');
  t.is(await faultOf(t, {}), 'NO_SIGNING_KEY');
});

test('a test names an answer that is no discovery document', async (t) => {
  t.is(await faultOf(t, { body: '<html>', headers: { 'content-type': 'text/html' } }, 'page'), 'NOT_JSON');
  t.is(await faultOf(t, { body: '{"issuer":' }, 'page'), 'NOT_JSON');
  t.is(await faultOf(t, { status: 503 }, 'page'), 'UNEXPECTED_STATUS');
  t.is(await faultOf(t, { status: 302, headers: { location: 'http://10.0.0.1/' } }, 'page'), 'UNEXPECTED_STATUS');
  t.is(await faultOf(t, { body: `"${'x'.repeat(600_000)}"` }, 'page'), 'UPSTREAM_ERROR', 'too large');
  t.is(await faultOf(t, { status: 204 }, 'page'), 'UNEXPECTED_STATUS');
});

test('what a discovery document points to is asked only where anything may be asked', async (t) => {
  t.is(await faultOf(t, { jwks_uri: 'http://169.254.169.254/keys' }), 'URL_BLOCKED');
  const provider = await staticProvider({ token_endpoint: 'http://169.254.169.254/token' });
  t.teardown(() => provider.stop());
  const { orgId } = await place(platform, provider.issuer);
  const browser = new Browser(platform);
  const state = new URL(await browser.begin(orgId)).searchParams.get('state');
  t.is((await browser.comeBack(`${CALLBACK}?code=c&state=${state}`)).error, 'provider_unreachable');
});

test('a provider whose document is not usable is reported on the login page', async (t) => {
  const provider = await staticProvider({ token_endpoint: null });
  t.teardown(() => provider.stop());
  const { orgId } = await place(platform, provider.issuer);
  t.is(await new Browser(platform).begin(orgId), `${PUBLIC_URL}/login?error=provider_error`);
});

test('the secret is shown the way the provider wants it, or not at all by a public client', async (t) => {
  const both = await startProvider();
  const publicly = await startProvider({ token_endpoint_auth_method: 'none', client_secret: undefined });
  t.teardown(() => Promise.all([both.stop(), publicly.stop()]));
  const shown = async (provider: typeof both, settings: object) => {
    const { orgId, viewer } = await place(platform, provider.issuer, settings);
    const { code } = await new Browser(platform).logIn(orgId, provider, person(viewer.email));
    return code && provider.requests.findLast((request) => request.startsWith('POST /token'));
  };
  t.is(await shown(both, {}), 'POST /token Basic');
  t.is(await shown(both, { clientAuth: 'client_secret_post' }), 'POST /token');
  t.is(await shown(publicly, { clientSecret: null }), 'POST /token');
});

test('a wrong client secret ends at the login page', async (t) => {
  const provider = await startProvider();
  t.teardown(() => provider.stop());
  const { orgId, viewer } = await place(platform, provider.issuer, { clientSecret: 'not the right one' });
  t.is((await new Browser(platform).logIn(orgId, provider, person(viewer.email))).error, 'provider_error');
});

test('one address may not begin logins without end', async (t) => {
  const { orgId } = await tenant(platform);
  const headers = { 'x-forwarded-for': '2001:db8::dead' };
  const url = `${platform.url}/api/v1/sso/login/${orgId}`;
  const statuses = new Map<number, number>();
  for (let n = 0; n < 105; n += 1) {
    const { status } = await fetch(url, { headers, redirect: 'manual' });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  t.deepEqual(
    [...statuses],
    [
      [302, 100],
      [429, 5],
    ],
  );
});

test('two providers of one organization do not mix their people', async (t) => {
  const [first, second] = await Promise.all([startProvider(), startProvider()]);
  t.teardown(() => Promise.all([first.stop(), second.stop()]));
  const made = await place(platform, first.issuer);
  const { token } = made.orgAdmin;
  const somebody = person(made.viewer.email);
  t.truthy((await new Browser(platform).logIn(made.orgId, first, somebody)).code);
  await platform.call('POST', `/sso/providers/${made.provider.id}/status`, { token, body: { status: 'inactive' } });
  await activeProvider(platform, made, second.issuer, { name: 'Second' });
  const browser = new Browser(platform);
  const impostor = { ...somebody, email: made.orgAdmin.email };
  const { code } = await browser.logIn(made.orgId, second, impostor);
  t.like((await browser.exchange<{ user: object }>(code)).body.user, { id: made.orgAdmin.id });
});
