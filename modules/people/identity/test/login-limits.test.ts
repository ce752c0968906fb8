/** Guessing is limited by source, by account and by device, and does not lock out the user of a known device. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { type ErrorBody, type PlatformClient, sharedPlatform, startTestPlatform, tenant } from '#test';
import { fromSomewhere, givePassword, PASSWORD } from './people.ts';

// A login is by password alone here; the second factor has tests of its own.
const platform: PlatformClient = await sharedPlatform({ ENABLE_2FA: 'false', TRUST_PROXY_HEADERS: 'true' });
platform.newcomers = true;
test.after.always(() => platform.stop());

/** Wrong for every account, and refused without the cost of a hash, since it is too long once normalized. */
const WRONG = 'ﷺ'.repeat(300);
const anEmail = () => `${randomUUID().slice(0, 8)}@example.com`;
const from = (ip: string) => ({ 'x-forwarded-for': ip });
/** The first half of an IPv6 address of its own. */
const network = () => `2001:db8:${randomUUID().slice(0, 4)}:${randomUUID().slice(0, 4)}`;

const attempt = (email: string, password: string, headers: Record<string, string>, at = platform) =>
  at.call<ErrorBody>('POST', '/auth/login', { body: { email, password }, headers });

/** How often each status was answered. */
async function tally(times: number, one: (n: number) => Promise<{ status: number }>): Promise<Record<number, number>> {
  const seen: Record<number, number> = {};
  for (let n = 0; n < times; n += 20) {
    const answers = await Promise.all(Array.from({ length: Math.min(20, times - n) }, (_, m) => one(n + m)));
    for (const { status } of answers) seen[status] = (seen[status] ?? 0) + 1;
  }
  return seen;
}

/** A user with a password, and the cookie of a device in which the account was opened. */
async function known() {
  const { orgAdmin } = await tenant(platform);
  await givePassword(platform, orgAdmin.id);
  const { headers } = await attempt(orgAdmin.email, PASSWORD, fromSomewhere());
  const raw = headers.getSetCookie().find((one) => one.startsWith('svc_known_device=')) ?? '';
  return { email: orgAdmin.email, raw, cookie: raw.split(';')[0] ?? '' };
}

test('one account takes 100 attempts from all sources together, and its known device still gets in', async (t) => {
  const { email, raw, cookie } = await known();
  t.regex(raw, /HttpOnly; SameSite=Strict; Path=\/api\/v1\/auth/);
  t.deepEqual(await tally(104, () => attempt(email, WRONG, fromSomewhere())), { 401: 99, 429: 5 });
  t.is((await attempt(email, PASSWORD, fromSomewhere())).status, 429, 'a device that is not known waits');
  t.is((await attempt(email, PASSWORD, { ...fromSomewhere(), cookie })).status, 200);
  t.is((await attempt(anEmail(), WRONG, fromSomewhere())).status, 401);
});

test('one source tries 300 times, whatever the accounts, and a known device behind it still gets in', async (t) => {
  const { email, cookie } = await known();
  const source = network();
  const spray = (n: number) => attempt(anEmail(), WRONG, from(`${source}:${n.toString(16)}::1`));
  t.deepEqual(await tally(305, spray), { 401: 300, 429: 5 });
  t.is((await attempt(email, PASSWORD, from(`${source}::9`))).status, 429);
  t.is((await attempt(email, PASSWORD, { ...from(`${source}::9`), cookie })).status, 200);
  t.is((await attempt(email, PASSWORD, fromSomewhere())).status, 200);
});

test('the addresses of one IPv6 /64 count as one', async (t) => {
  const [email, source] = [anEmail(), network()];
  t.deepEqual(await tally(32, (n) => attempt(email, WRONG, from(`${source}::${n.toString(16)}`))), { 401: 30, 429: 2 });
  t.is((await attempt(email, WRONG, from(`${network()}::1`))).status, 401);
});

test('a known device is limited too', async (t) => {
  const { email, cookie } = await known();
  const seen = await tally(32, () => attempt(email, WRONG, { ...fromSomewhere(), cookie }));
  t.deepEqual(seen, { 401: 30, 429: 2 });
  t.is((await attempt(email, PASSWORD, fromSomewhere())).status, 200, 'others are not');
});

test('the cookie of another account, or one that this server did not sign, is worth nothing', async (t) => {
  const [one, other] = [await known(), await known()];
  const source = from(`${network()}::1`);
  t.deepEqual(await tally(30, () => attempt(one.email, WRONG, source)), { 401: 30 });
  const [, value = ''] = one.cookie.split('=');
  const [expires, random = '', mac = ''] = value.split('.');
  const worthless = [
    other.cookie,
    `svc_known_device=${Number(expires) + 1}.${random}.${mac}`,
    `svc_known_device=${expires}.${random}.${'0'.repeat(64)}`,
    `svc_known_device=${expires}.${random}`,
    'svc_known_device=nonsense',
  ];
  for (const cookie of worthless) t.is((await attempt(one.email, PASSWORD, { ...source, cookie })).status, 429, cookie);
  t.is((await attempt(one.email, PASSWORD, { ...source, cookie: one.cookie })).status, 200);
});

test('while the counter store is away each process goes on limiting logins', async (t) => {
  const lone = await startTestPlatform({ REDIS_URL: 'redis://127.0.0.1:1' });
  try {
    const email = anEmail();
    t.deepEqual(await tally(32, () => attempt(email, WRONG, {}, lone)), { 401: 30, 429: 2 });
  } finally {
    await lone.stop();
  }
});
