/** Changing a password, and replacing a forgotten one. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { type ErrorBody, sharedPlatform, tenant, until } from '#test';
import { fromSomewhere, givePassword, PASSWORD, refreshCookie } from './people.ts';

const platform = await sharedPlatform({ TRUST_PROXY_HEADERS: 'true' });
test.after.always(() => platform.stop());

const NEXT = 'another-Tall-lamp-4';
const post = (path: string, body: object, token?: string) =>
  platform.call<ErrorBody>('POST', path, { body, headers: fromSomewhere(), ...(token ? { token } : {}) });
const login = (email: string, password: string) => post('/auth/login', { email, password });

/** The tokens of all mails to an address, oldest first. */
async function resetTokens(email: string): Promise<string[]> {
  await platform.runJobs();
  const folder = join(platform.dataDir, 'mail');
  const names = (await readdir(folder).catch(() => [])).sort();
  const mails = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return mails
    .filter((mail) => mail.includes(email))
    .map((mail) => /rst_[\w-]+/.exec(mail.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '='))?.[0] ?? '');
}

test('a changed password ends every session and refresh token, and only the new one works', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  await givePassword(platform, orgAdmin.id);
  const { pair } = refreshCookie((await login(orgAdmin.email, PASSWORD)).headers);
  const change = (currentPassword: string, newPassword: string) =>
    post('/auth/change-password', { currentPassword, newPassword }, orgAdmin.token);
  t.is((await change('wrong', NEXT)).body.error.code, 'CURRENT_PASSWORD_WRONG');
  t.is((await change(PASSWORD, 'password1')).body.error.code, 'WEAK_PASSWORD');
  t.is((await change(PASSWORD, NEXT)).status, 200);
  await until(async () => (await platform.call('GET', '/users/me', { token: orgAdmin.token })).status === 401);
  const refresh = await platform.call('POST', '/auth/refresh', { headers: { cookie: pair, 'x-svc-csrf': '1' } });
  t.is(refresh.status, 401);
  t.is((await login(orgAdmin.email, PASSWORD)).status, 401);
  t.is((await login(orgAdmin.email, NEXT)).status, 200);
  t.is((await platform.audits({ orgId, action: 'user.password.change' })).length, 1);
});

test.serial(
  'a forgotten password is replaced by the newest link, once, and the answer never tells who exists',
  async (t) => {
    const { orgAdmin, orgId } = await tenant(platform);
    await givePassword(platform, orgAdmin.id);
    const { email, token } = orgAdmin;
    const known = await post('/auth/forgot-password', { email: email.toUpperCase() });
    const unknown = await post('/auth/forgot-password', { email: 'nobody@example.com' });
    t.is(known.status, 200);
    t.deepEqual(unknown.body, known.body);
    const [older = ''] = await resetTokens(email);
    t.regex(older, /^rst_/);
    t.deepEqual(await resetTokens('nobody@example.com'), []);
    await post('/auth/forgot-password', { email });
    const newer = (await resetTokens(email)).find((one) => one !== older) ?? '';
    const reset = (using: string, password = NEXT) => post('/auth/reset-password', { token: using, password });
    t.is((await reset(older)).body.error.code, 'RESET_TOKEN_INVALID');
    t.is((await reset(newer, 'password1')).body.error.code, 'WEAK_PASSWORD');
    const both = await Promise.all([reset(newer), reset(newer)]);
    t.deepEqual(both.map(({ status }) => status).sort(), [200, 400]);
    await until(async () => (await platform.call('GET', '/users/me', { token })).status === 401);
    t.is((await login(email, NEXT)).status, 200);
    const audits = await platform.audits({ orgId, action: 'user.password.reset' });
    t.deepEqual(
      audits.map((row) => row.actor_id),
      [orgAdmin.id],
    );
  },
);

test('one address asks for ten links an hour, whatever the accounts, and one account for five', async (t) => {
  const ask = (email: string, headers: Record<string, string>) =>
    platform.call<ErrorBody & { retryAfter: number }>('POST', '/auth/forgot-password', { body: { email }, headers });
  const refused = ({ status, body, headers }: Awaited<ReturnType<typeof ask>>) => {
    t.is(status, 429);
    t.true(body.retryAfter > 0);
    t.is(headers.get('retry-after'), String(body.retryAfter));
  };
  const here = fromSomewhere();
  for (let n = 0; n < 10; n += 1) t.is((await ask(`nobody-${n}@example.com`, here)).status, 200);
  refused(await ask('nobody-else@example.com', here));
  for (let n = 0; n < 5; n += 1) t.is((await ask('one@example.com', fromSomewhere())).status, 200);
  refused(await ask('one@example.com', fromSomewhere()));
});

test.serial('a link older than an hour, or of a disabled user, is worth nothing', async (t) => {
  const { orgAdmin, viewer } = await tenant(platform);
  await post('/auth/forgot-password', { email: orgAdmin.email });
  await platform.sql(`update users set status = 'disabled' where id = $1`, [viewer.id]);
  await post('/auth/forgot-password', { email: viewer.email });
  const [token = ''] = await resetTokens(orgAdmin.email);
  t.deepEqual(await resetTokens(viewer.email), []);
  const [left] = await platform.sql<{ minutes: number }>(
    `select extract(epoch from expires_at - now())::int / 60 as minutes from password_resets where user_id = $1`,
    [orgAdmin.id],
  );
  t.true(left !== undefined && left.minutes >= 58 && left.minutes <= 60);
  await platform.sql(`update password_resets set expires_at = now() where user_id = $1`, [orgAdmin.id]);
  t.is((await post('/auth/reset-password', { token, password: NEXT })).status, 400);
});
