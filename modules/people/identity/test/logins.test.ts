/** Logging in, staying in and leaving. */
import test from 'ava';
import { type ErrorBody, sharedPlatform, tenant, until } from '#test';
import { fromSomewhere, givePassword, PASSWORD, refreshCookie } from './people.ts';

// A login is by password alone here; the second factor has tests of its own.
const platform = await sharedPlatform({ ENABLE_2FA: 'false', TRUST_PROXY_HEADERS: 'true' });
platform.newcomers = true;
test.after.always(() => platform.stop());

interface LoggedIn {
  user: { id: string };
  tokens: { accessToken: string; refreshToken?: string };
}
const login = (email: string, password = PASSWORD, more: object = {}) =>
  platform.call<LoggedIn & ErrorBody>('POST', '/auth/login', {
    body: { email, password, ...more },
    headers: fromSomewhere(),
  });
const refresh = (cookie: string, headers: Record<string, string> = { 'x-svc-csrf': '1' }) =>
  platform.call<LoggedIn & ErrorBody>('POST', '/auth/refresh', { headers: { cookie, ...headers }, body: {} });

test('a user logs in, is known by the token, and leaves; every session ends', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  await givePassword(platform, orgAdmin.id);
  const { status, body, headers } = await login(orgAdmin.email.toUpperCase());
  t.is(status, 200);
  t.like(body, { user: { id: orgAdmin.id, mfaEnabled: false }, tokens: { expiresInSeconds: 900 }, mfaRequired: false });
  const { raw } = refreshCookie(headers);
  t.regex(raw, /HttpOnly; SameSite=Strict; Path=\/api\/v1\/auth/);
  const token = body.tokens.accessToken;
  t.like((await platform.call('GET', '/auth/me', { token })).body, { id: orgAdmin.id, scope: 'organization', orgId });
  const out = await platform.call('POST', '/auth/logout', { token });
  t.deepEqual(out.body, { success: true });
  t.regex(refreshCookie(out.headers).raw, /Max-Age=0/);
  await until(async () => (await platform.call('GET', '/auth/me', { token: orgAdmin.token })).status === 401);
  await until(async () => (await platform.call('GET', '/auth/me', { token })).status === 401);
  const audits = await platform.audits({ orgId });
  t.deepEqual(
    audits.map((row) => [row.action, row.actor_id]),
    [
      ['user.login', orgAdmin.id],
      ['user.logout', orgAdmin.id],
    ],
  );
});

test('a wrong password, an unknown address and a disabled user get the same answer', async (t) => {
  const { orgAdmin, viewer, orgId } = await tenant(platform);
  await givePassword(platform, orgAdmin.id);
  await givePassword(platform, viewer.id);
  await platform.sql(`update users set status = 'disabled' where id = $1`, [viewer.id]);
  const answers = await Promise.all([
    login(orgAdmin.email, 'wrong'),
    login('nobody@example.com'),
    login(viewer.email),
    login(viewer.email, 'wrong'),
  ]);
  for (const { status, body } of answers) {
    t.is(status, 401);
    t.deepEqual(body, answers[0].body);
  }
  t.is(answers[0].body.error.code, 'INVALID_CREDENTIALS');
  const failed = await platform.audits({ orgId, action: 'user.login.failed' });
  // The four ran at once: who came first is open, who failed how often is not.
  t.deepEqual(
    failed.map((row) => `${row.actor_id} ${row.result}`).sort(),
    [`${orgAdmin.id} failure`, `${viewer.id} failure`, `${viewer.id} failure`].sort(),
  );
});

test('too many attempts on one address from one place are refused with retryAfter, others still get in', async (t) => {
  const { orgAdmin } = await tenant(platform);
  await givePassword(platform, orgAdmin.id);
  const headers = fromSomewhere();
  const attempt = () =>
    platform.call<{ retryAfter: number }>('POST', '/auth/login', {
      body: { email: orgAdmin.email, password: 'x' },
      headers,
    });
  for (let n = 0; n < 30; n += 1) t.is((await attempt()).status, 401);
  const refused = await attempt();
  t.is(refused.status, 429);
  t.true(refused.body.retryAfter > 0);
  t.is((await login(orgAdmin.email)).status, 200);
});

test('a user of a partner and an organization lands at the partner, or where they ask', async (t) => {
  const { partner, partnerId, orgId } = await tenant(platform);
  const other = await tenant(platform);
  await givePassword(platform, partner.id);
  await platform.sql(
    `insert into organization_users (org_id, user_id, role_id) select $1, $2, role_id from organization_users limit 1`,
    [orgId, partner.id],
  );
  const me = async (more: object) => {
    const { body } = await login(partner.email, PASSWORD, more);
    return (await platform.call('GET', '/auth/me', { token: body.tokens.accessToken })).body as object;
  };
  t.like(await me({}), { scope: 'partner', partnerId, roleName: 'Partner Admin', permissions: ['*:*'] });
  t.like(await me({ orgId }), { scope: 'organization', orgId });
  t.is((await login(partner.email, PASSWORD, { orgId: other.orgId })).status, 403);
});

test('refreshing replaces the token, and an old one ends the session', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  await givePassword(platform, orgAdmin.id);
  const first = refreshCookie((await login(orgAdmin.email)).headers).pair;
  t.is((await refresh(first, {})).body.error.code, 'CSRF_REQUIRED');
  const renewed = await refresh(first);
  t.is(renewed.status, 200);
  const second = refreshCookie(renewed.headers).pair;
  t.not(second, first);
  const token = renewed.body.tokens.accessToken;
  t.is((await platform.call('GET', '/users/me', { token })).status, 200);
  t.is((await refresh(first)).status, 401);
  t.is((await refresh(second)).status, 401);
  await until(async () => (await platform.call('GET', '/users/me', { token })).status === 401);
  t.is((await platform.audits({ orgId, action: 'auth.refresh.reuse' })).length, 1);
});

test('of many who refresh with one token at once, one at most gets a new one', async (t) => {
  const { orgAdmin } = await tenant(platform);
  await givePassword(platform, orgAdmin.id);
  const { pair } = refreshCookie((await login(orgAdmin.email)).headers);
  const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(pair)));
  t.is(answers.filter(({ status }) => status === 200).length, 1);
});

test('a program without cookies refreshes by body and needs no CSRF header', async (t) => {
  const { orgAdmin } = await tenant(platform);
  await givePassword(platform, orgAdmin.id);
  const [, refreshToken] = refreshCookie((await login(orgAdmin.email)).headers).pair.split('=');
  const { status, body, headers } = await platform.call<LoggedIn>('POST', '/auth/refresh', { body: { refreshToken } });
  t.is(status, 200);
  t.truthy(body.tokens.refreshToken);
  t.deepEqual(headers.getSetCookie(), []);
  t.is((await platform.call('POST', '/auth/refresh', { body: { refreshToken: 'nonsense' } })).status, 401);
});

test('a user sees and ends their own sessions only, and changes their name', async (t) => {
  const { orgAdmin, viewer, orgId } = await tenant(platform);
  const { token, sessionId } = orgAdmin;
  const list = await platform.call('GET', '/auth/sessions', { token });
  t.like(list.body, { data: [{ id: sessionId, current: true }], pagination: { total: 1 } });
  t.is((await platform.call('DELETE', `/auth/sessions/${viewer.sessionId}`, { token })).status, 404);
  t.is((await platform.call('PATCH', '/users/me', { token, body: { name: 'Grace' } })).status, 200);
  t.like((await platform.call('GET', '/users/me', { token })).body, { name: 'Grace', avatarUrl: null });
  const bad = await platform.call<ErrorBody>('PATCH', '/users/me', { token, body: { name: '', status: 'x' } });
  t.deepEqual(bad.body.error.details.map((detail) => detail.path).sort(), ['name', 'status']);
  t.is((await platform.call('DELETE', `/auth/sessions/${sessionId}`, { token })).status, 200);
  await until(async () => (await platform.call('GET', '/users/me', { token })).status === 401);
  const audits = await platform.audits({ orgId });
  t.deepEqual(
    audits.map((row) => row.action),
    ['user.profile.update', 'auth.session.revoke'],
  );
});
