/** Passwords shut out by a provider, and second factors beside one. */
import test from 'ava';
import { generateSync } from 'otplib';
import { hashPassword } from '#core/auth';
import { type ErrorBody, organization, type Person, ROLES } from '#test';
import { Browser } from './browser.ts';
import { type Answer, bodyOf, person, place, startPlatform, startProvider } from './ground.ts';

const PASSWORD = 'quite-a-Long-horse-9';
const [platform, provider] = await Promise.all([startPlatform(), startProvider()]);
platform.newcomers = true;
test.after.always(async () => {
  await platform.stop();
  await provider.stop();
});

interface LoggedIn {
  mfaRequired: boolean;
  tempToken: string;
  mfaMethods: string[];
  tokens: { accessToken: string };
}
const post = <B = ErrorBody>(path: string, body: object, token?: string) =>
  platform.call<B & ErrorBody>('POST', path, { body, ...(token ? { token } : {}) });
const passwordLogin = ({ email }: Person, more: object = {}) =>
  post<LoggedIn>('/auth/login', { email, password: PASSWORD, ...more });

async function givePassword({ id }: Person): Promise<void> {
  await platform.sql('update users set password_hash = $2 where id = $1', [id, await hashPassword(PASSWORD)]);
}

/** Enrolls an authenticator; gives its present code, unused. */
async function enroll({ id, token }: Person): Promise<() => string> {
  const { secret } = (await post<{ secret: string }>('/auth/mfa/setup', {}, token)).body;
  const enabled = await post('/auth/mfa/enable', { code: generateSync({ secret }) }, token);
  if (enabled.status !== 200) throw new Error(`not enrolled: ${enabled.body.error.code}`);
  await platform.sql('update users set mfa_last_step = mfa_last_step - 10 where id = $1', [id]);
  return () => generateSync({ secret });
}

test('an enforced provider refuses passwords while it is active, and lets its people in', async (t) => {
  const { orgId, orgAdmin, viewer, provider: made } = await place(platform, provider.issuer);
  await givePassword(viewer);
  t.is((await passwordLogin(viewer)).status, 200);
  const patch = (body: object) =>
    platform.call<Answer>('PATCH', `/sso/providers/${made.id}`, { token: orgAdmin.token, body });
  const status = (to: string) => post(`/sso/providers/${made.id}/status`, { status: to }, orgAdmin.token);
  t.is((await patch({ enforceSSO: true })).body.error.code, 'SSO_NOT_PROVEN');
  t.is((await passwordLogin(viewer)).status, 200);

  const browser = new Browser(platform);
  t.is((await browser.exchange((await browser.logIn(orgId, provider, person(viewer.email))).code)).status, 200);
  t.is((await patch({ enforceSSO: true })).status, 200);
  const { status: refused, body } = await passwordLogin(viewer);
  t.is(refused, 403);
  t.like(body.error, { code: 'SSO_REQUIRED', details: [{ path: 'orgId', message: orgId }] });
  t.like((await platform.call('GET', `/sso/check/${orgId}`)).body as object, { enabled: true, enforceSSO: true });
  t.is((await browser.exchange((await browser.logIn(orgId, provider, person(orgAdmin.email))).code)).status, 200);

  t.is((await patch({ clientId: 'another' })).body.error.code, 'SSO_NOT_PROVEN', 'another client is unproven');
  t.is((await status('inactive')).status, 200);
  t.is((await passwordLogin(viewer)).status, 200, 'whoever deactivates opens the door again');
  t.is((await status('active')).status, 200);
  t.is((await passwordLogin(viewer)).status, 403);
});

test('a successful test also proves a provider, for a day and for this issuer', async (t) => {
  const { orgAdmin, provider: made } = await place(platform, provider.issuer);
  const { token } = orgAdmin;
  const patch = (body: object) => platform.call<Answer>('PATCH', `/sso/providers/${made.id}`, { token, body });
  t.like((await post(`/sso/providers/${made.id}/test`, {}, token)).body as object, { success: true });
  await platform.sql(`update sso_providers set tested_at = now() - interval '25 hours' where id = $1`, [made.id]);
  t.is((await patch({ enforceSSO: true })).body.error.code, 'SSO_NOT_PROVEN');
  await post(`/sso/providers/${made.id}/test`, {}, token);
  t.is((await patch({ enforceSSO: true })).status, 200);
  const moved = await patch({ issuer: 'https://issuer.example', clientSecret: 'x' });
  t.is(moved.body.error.code, 'SSO_NOT_PROVEN');
  t.is((await platform.call<Answer>('GET', `/sso/providers/${made.id}`, { token })).body.data.issuer, provider.issuer);
});

test('an enforced provider shuts passwords out of its own organization only', async (t) => {
  const { orgId, orgAdmin, partner, partnerId, viewer, provider: made } = await place(platform, provider.issuer);
  await post(`/sso/providers/${made.id}/test`, {}, orgAdmin.token);
  await platform.call('PATCH', `/sso/providers/${made.id}`, { token: orgAdmin.token, body: { enforceSSO: true } });
  const other = await organization(platform, partnerId);
  await platform.sql('insert into organization_users (org_id, user_id, role_id) values ($1, $2, $3)', [
    ...[other.orgId, viewer.id, ROLES.viewer],
  ]);
  await Promise.all([viewer, partner].map(givePassword));
  const { body } = await passwordLogin(viewer);
  const me = await platform.call('GET', '/auth/me', { token: body.tokens.accessToken });
  t.like(me.body as object, { orgId: other.orgId });
  t.is((await passwordLogin(viewer, { orgId })).body.error.code, 'SSO_REQUIRED');
  t.is((await passwordLogin(partner)).status, 200, 'the people of the partner have another place');
});

test('a second factor that the provider asked for counts, and without it our own is asked for', async (t) => {
  const { orgId, viewer } = await place(platform, provider.issuer);
  const code = await enroll(viewer);
  const somebody = person(viewer.email);
  const browser = new Browser(platform);
  const me = async (token: string) => (await platform.call('GET', '/auth/me', { token })).body as object;

  const strong = await browser.logIn(orgId, provider, { ...somebody, amr: ['pwd', 'mfa', 'otp'] });
  const { body: first } = await browser.exchange<LoggedIn>(strong.code);
  t.false(first.mfaRequired);
  t.like(await me(first.tokens.accessToken), { id: viewer.id, mfaVerified: true });

  for (const amr of [[], ['pwd'], ['otp']]) {
    const another = new Browser(platform);
    const weak = await another.logIn(orgId, provider, { ...somebody, amr });
    const { body, headers } = await another.exchange<LoggedIn>(weak.code);
    t.true(body.mfaRequired, amr.join());
    t.false('tokens' in body);
    t.deepEqual(headers.getSetCookie(), []);
    if (amr[0] !== 'otp') continue;
    const verified = await post<LoggedIn>('/auth/mfa/verify', { tempToken: body.tempToken, code: code() });
    t.like(await me(verified.body.tokens.accessToken), { id: viewer.id, orgId, mfaVerified: true });
  }
});

test('without any second factor a session is not marked as having one', async (t) => {
  const { orgId, orgAdmin } = await place(platform, provider.issuer);
  const browser = new Browser(platform);
  const { body } = await browser.exchange<LoggedIn>(
    (await browser.logIn(orgId, provider, person(orgAdmin.email))).code,
  );
  const token = body.tokens.accessToken;
  t.like((await platform.call('GET', '/auth/me', { token })).body as object, { mfaVerified: false });
  t.is((await post('/api-keys', { orgId, name: 'x' }, token)).body.error.code, 'MFA_VERIFICATION_REQUIRED');
  const { body: refused } = await post('/sso/providers', bodyOf(provider.issuer, { name: 'x' }), token);
  t.is(refused.error.code, 'MFA_VERIFICATION_REQUIRED');
});

test('whoever has places elsewhere shows their own second factor, whatever the provider says', async (t) => {
  const { orgId, partnerId, viewer } = await place(platform, provider.issuer);
  const somebody = person(viewer.email, { amr: ['mfa'] });
  const browser = new Browser(platform);
  t.false((await browser.exchange<LoggedIn>((await browser.logIn(orgId, provider, somebody)).code)).body.mfaRequired);
  const other = await organization(platform, partnerId);
  await platform.sql('insert into organization_users (org_id, user_id, role_id) values ($1, $2, $3)', [
    ...[other.orgId, viewer.id, ROLES.viewer],
  ]);
  t.is((await browser.logIn(orgId, provider, somebody)).error, 'link_refused');
  const code = await enroll(viewer);
  const { body } = await browser.exchange<LoggedIn>((await browser.logIn(orgId, provider, somebody)).code);
  t.true(body.mfaRequired);
  const verified = await post<LoggedIn>('/auth/mfa/verify', { tempToken: body.tempToken, code: code() });
  const me = await platform.call('GET', '/auth/me', { token: verified.body.tokens.accessToken });
  t.like(me.body as object, { id: viewer.id, orgId });
});
