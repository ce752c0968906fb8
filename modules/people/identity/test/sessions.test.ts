/** How long a session lasts, and who can end it. */
import { randomBytes } from 'node:crypto';
import test from 'ava';
import { sha256Hex } from '#core/auth';
import { type ErrorBody, sharedPlatform, tenant, until } from '#test';
import { fromSomewhere, givePassword, PASSWORD, refreshCookie } from './people.ts';

// A login is by password alone here; the second factor has tests of its own.
const platform = await sharedPlatform({ ENABLE_2FA: 'false', TRUST_PROXY_HEADERS: 'true' });
platform.newcomers = true;
test.after.always(() => platform.stop());

interface Refreshed {
  tokens: { accessToken: string; refreshToken: string };
}
const refresh = (refreshToken: string) =>
  platform.call<Refreshed & ErrorBody>('POST', '/auth/refresh', { body: { refreshToken } });
const me = async (token: string) => (await platform.call('GET', '/users/me', { token })).status;

/** A user of an organization who has logged in. */
async function loggedIn() {
  const made = await tenant(platform);
  await givePassword(platform, made.orgAdmin.id);
  const { body, headers } = await platform.call<Refreshed>('POST', '/auth/login', {
    body: { email: made.orgAdmin.email, password: PASSWORD },
    headers: fromSomewhere(),
  });
  const token = refreshCookie(headers).pair.split('=')[1] ?? '';
  return { ...made, token, sessionId: token.split('.')[0] ?? '', accessToken: body.tokens.accessToken };
}
const random = () => randomBytes(32).toString('base64url');

test('a token that was never issued ends no session, whoever knows its id', async (t) => {
  const { token, sessionId, orgId } = await loggedIn();
  const other = await loggedIn();
  const [, , mac = ''] = token.split('.');
  const invented = [
    `${sessionId}.${random()}`,
    `${sessionId}.${random()}.${mac}`,
    `${sessionId}.${random()}.${'0'.repeat(64)}`,
    // A token that is ours, made to name another session.
    other.token.replace(other.sessionId, sessionId),
  ];
  for (const one of invented) {
    const { status, body } = await refresh(one);
    t.deepEqual([status, body.error.code], [401, 'REFRESH_INVALID'], one);
  }
  t.is((await refresh(token)).status, 200);
  t.is((await platform.audits({ orgId, action: 'auth.refresh.reuse' })).length, 0);
});

test('a token from before they were signed refreshes while it is the newest, and ends nothing afterwards', async (t) => {
  const { sessionId, orgId } = await loggedIn();
  const old = `${sessionId}.${random()}`;
  await platform.sql('update sessions set token_hash = $2 where id = $1', [sessionId, sha256Hex(old)]);
  const renewed = await refresh(old);
  t.is(renewed.status, 200);
  const { refreshToken } = renewed.body.tokens;
  t.is(refreshToken.split('.').length, 3);
  t.is((await refresh(old)).status, 401);
  t.is((await refresh(refreshToken)).status, 200);
  t.is((await platform.audits({ orgId, action: 'auth.refresh.reuse' })).length, 0);
  // A signed one that is not the newest does end it.
  t.is((await refresh(refreshToken)).status, 401);
  t.is((await platform.audits({ orgId, action: 'auth.refresh.reuse' })).length, 1);
});

test('a session ends ninety days after its login, however often it is refreshed', async (t) => {
  const { token, sessionId } = await loggedIn();
  const age = (interval: string) =>
    platform.sql(`update sessions set created_at = now() - interval '${interval}' where id = $1`, [sessionId]);
  const cookie = `svc_refresh_token=${token}`;
  await age('89 days');
  const late = await platform.call('POST', '/auth/refresh', { headers: { cookie, 'x-svc-csrf': '1' } });
  t.is(late.status, 200);
  const { raw, pair } = refreshCookie(late.headers);
  t.true(Number(/Max-Age=(\d+)/.exec(raw)?.[1]) <= 86_400);
  const [row] = await platform.sql<{ days: number }>(
    'select extract(epoch from expires_at - created_at)::float / 86400 as days from sessions where id = $1',
    [sessionId],
  );
  t.true(row !== undefined && row.days <= 90);
  await age('91 days');
  t.is((await refresh(pair.split('=')[1] ?? '')).status, 401);
});

test('while the organization or its partner is suspended nobody works or refreshes, and afterwards the token still works', async (t) => {
  const { accessToken, orgId, partnerId, ...user } = await loggedIn();
  const places = [
    ['organizations', orgId, 'ORG_ACCESS_DENIED'],
    ['partners', partnerId, 'PARTNER_INACTIVE'],
  ] as const;
  let { token } = user;
  for (const [table, id, code] of places) {
    await platform.sql(`update ${table} set status = 'suspended' where id = $1`, [id]);
    const refused = await refresh(token);
    t.deepEqual([refused.status, refused.body.error.code], [403, code]);
    await until(async () => (await me(accessToken)) === 403);
    await platform.sql(`update ${table} set status = 'active' where id = $1`, [id]);
    const back = await refresh(token);
    t.is(back.status, 200);
    token = back.body.tokens.refreshToken;
    await until(async () => (await me(back.body.tokens.accessToken)) === 200);
  }
});

test('who belongs to a suspended organization or partner can end sessions and log out', async (t) => {
  for (const table of ['organizations', 'partners'] as const) {
    const { accessToken, orgId, partnerId, orgAdmin } = await loggedIn();
    const id = table === 'organizations' ? orgId : partnerId;
    await platform.sql(`update ${table} set status = 'suspended' where id = $1`, [id]);
    await until(async () => (await me(accessToken)) === 403);
    const call = (method: 'GET' | 'POST' | 'DELETE', path: string) =>
      platform.call<{ data: { id: string; current: boolean }[] }>(method, path, { token: accessToken });
    const { status, body } = await call('GET', '/auth/sessions');
    t.is(status, 200, table);
    const other = body.data.find(({ current }) => !current);
    t.is((await call('DELETE', `/auth/sessions/${other?.id}`)).status, 200);
    t.is((await call('POST', '/auth/logout')).status, 200);
    const open = await platform.sql('select from sessions where user_id = $1 and revoked_at is null', [orgAdmin.id]);
    t.is(open.length, 0, 'every session has ended');
  }
});

test('a disabled user, and one who lost the place, neither works nor refreshes', async (t) => {
  const disabled = await loggedIn();
  await platform.sql(`update users set status = 'disabled' where id = $1`, [disabled.orgAdmin.id]);
  t.is((await refresh(disabled.token)).status, 401);
  await until(async () => (await me(disabled.accessToken)) === 401);
  const removed = await loggedIn();
  await platform.sql('delete from organization_users where user_id = $1', [removed.orgAdmin.id]);
  t.is((await refresh(removed.token)).status, 401);
  await until(async () => (await me(removed.accessToken)) === 401);
});
