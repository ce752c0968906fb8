/** An API key in use: which is accepted, how often, what every answer says about it, and what is counted. */
import { randomBytes } from 'node:crypto';
import test from 'ava';
import {
  apiKey,
  type Called,
  type CallOptions,
  type ErrorBody,
  freePort,
  joinTestPlatform,
  startTestPlatform,
  type Tenant,
  tenant,
} from '#test';
import { sha256Hex } from '../../core/auth/opaque-tokens.ts';
import { hasRedisServer, startRedis } from '../../core/counters/test/redis-server.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

const SITES = '/orgs/sites';
const keyOf = ({ orgId, orgAdmin }: Tenant, more: { scopes?: string[]; rateLimit?: number; expiresAt?: Date } = {}) =>
  apiKey(platform, { orgId, createdBy: orgAdmin.id, scopes: ['sites:read'], ...more });
const refusal = ({ status, body }: Called<ErrorBody>) => [status, body.error.code, body.error.message];
const use = (headers: Record<string, string>, path = SITES) => platform.call<ErrorBody>('GET', path, { headers });
/** The first refusal of a key whose end this process is about to hear of; it remembers keys for a second at most. */
async function refused(key: string): Promise<Called<ErrorBody>> {
  const end = Date.now() + 10_000;
  for (;;) {
    const answer = await use({ 'x-api-key': key });
    if (answer.status !== 200 || Date.now() > end) return answer;
  }
}
const used = async (key: string) => {
  await platform.platform.settle();
  const [row] = await platform.sql<{ n: number; at: Date | null; status: string }>(
    'select usage_count::int as n, last_used_at as at, status from api_keys where key_hash = $1',
    [sha256Hex(key)],
  );
  return row;
};

test('what is no key, or no longer one, is refused in the words of its state', async (t) => {
  const own = await tenant(platform);
  const key = await keyOf(own);
  t.deepEqual(refusal(await use({})), [401, 'UNAUTHENTICATED', 'Authentication required']);
  const unknown = [401, 'UNAUTHENTICATED', 'Invalid API key'];
  const wrong = [
    '',
    key.slice(4),
    key.slice(0, -1),
    `${key}A`,
    key.toUpperCase(),
    `svc_${randomBytes(24).toString('base64url')}`,
  ];
  for (const one of wrong) t.deepEqual(refusal(await use({ 'x-api-key': one })), unknown, one);
  t.deepEqual(refusal(await use({ 'x-api-key': `${key}, ${key}` })), unknown, 'the header twice');
  t.deepEqual(refusal(await use({ authorization: `Bearer ${key}` }))[0], 401);
  t.is((await platform.call('GET', SITES, { apiKey: key })).status, 200);

  const { token } = own.orgAdmin;
  const [{ id } = { id: '' }] = await platform.sql<{ id: string }>('select id from api_keys where key_hash = $1', [
    sha256Hex(key),
  ]);
  const rotated = await platform.call<{ key: string }>('POST', `/api-keys/${id}/rotate`, { token });
  t.deepEqual(refusal(await refused(key)), unknown, 'rotated away');
  t.is((await platform.call('GET', SITES, { apiKey: rotated.body.key })).status, 200);
  await platform.call('DELETE', `/api-keys/${id}`, { token });
  const revoked = [401, 'UNAUTHENTICATED', 'API key is revoked'];
  t.deepEqual(refusal(await refused(rotated.body.key)), revoked);
});

test('a key past its time is refused, and its record says so from then on', async (t) => {
  const key = await keyOf(await tenant(platform), { expiresAt: new Date(Date.now() - 1000) });
  const expired = [401, 'UNAUTHENTICATED', 'API key is expired'];
  t.is((await used(key))?.status, 'active');
  t.deepEqual(refusal(await use({ 'x-api-key': key })), expired);
  t.like(await used(key), { status: 'expired', n: 0, at: null });
  t.deepEqual(refusal(await use({ 'x-api-key': key })), expired);
});

test('a key expires while it is in use', async (t) => {
  const key = await keyOf(await tenant(platform), { expiresAt: new Date(Date.now() + 3_600_000) });
  t.is((await use({ 'x-api-key': key })).status, 200);
  await platform.sql(`update api_keys set expires_at = now() where key_hash = $1`, [sha256Hex(key)]);
  t.is(refusal(await refused(key))[2], 'API key is expired');
  t.is((await used(key))?.status, 'expired');
});

test('with both headers the key decides, also where the user could do more', async (t) => {
  const [own, other] = await Promise.all([tenant(platform), tenant(platform)]);
  const both = (apiKey: string): CallOptions => ({ token: own.partner.token, apiKey });
  const seen = await platform.call<{ data: { orgId: string }[] }>('GET', SITES, both(await keyOf(other)));
  t.deepEqual(new Set(seen.body.data.map(({ orgId }) => orgId)), new Set([other.orgId]));
  const weak = both(await keyOf(own, { scopes: [] }));
  t.deepEqual(refusal(await platform.call('GET', SITES, weak)), [
    403,
    'SCOPE_REQUIRED',
    'API key does not have required permissions',
  ]);
  t.is((await platform.call('GET', SITES, both('svc_wrong'))).status, 401);
  t.is((await platform.call('GET', '/users/me', weak)).status, 200, 'where keys are never taken, the token counts');
});

test('a key writes into its own organization, and its entry in the trail names the key', async (t) => {
  const [own, other] = await Promise.all([tenant(platform), tenant(platform)]);
  const key = await keyOf(own, { scopes: ['sites:write'] });
  const make = (orgId: string) =>
    platform.call<ErrorBody>('POST', SITES, { apiKey: key, body: { orgId, name: 'By key' } });
  t.is((await make(own.orgId)).status, 201);
  t.deepEqual(refusal(await make(other.orgId)).slice(0, 2), [403, 'ORG_ACCESS_DENIED']);
  const [entry] = await platform.audits({ orgId: own.orgId, action: 'site.create' });
  t.is(entry?.actor_type, 'api_key');
  t.deepEqual(await platform.sql('select 1 from sites where org_id = $1 and name = $2', [other.orgId, 'By key']), []);
});

test('every answer to a key says what is left of its hour, whatever the answer is', async (t) => {
  const own = await tenant(platform);
  const key = await keyOf(own, { scopes: ['sites:read', 'sites:write'], rateLimit: 9 });
  const body = { orgId: own.orgId, name: 'x' };
  const asks: [number, string, string, unknown?][] = [
    [200, 'GET', SITES],
    [201, 'POST', SITES, body],
    [400, 'GET', `${SITES}?nonsense=1`],
    [400, 'POST', SITES, ['no object']],
    [400, 'POST', SITES, '{"name":'],
    [403, 'DELETE', `${SITES}/${own.siteId}`],
    [403, 'GET', '/orgs/partners'],
    [404, 'GET', `${SITES}/${own.orgId}`],
    [413, 'POST', SITES, { ...body, name: 'x'.repeat(1_100_000) }],
  ];
  const before = Math.floor(Date.now() / 1000);
  let left = 9;
  for (const [status, method, path, sent] of asks) {
    const answer = await platform.call(method, path, { apiKey: key, ...(sent ? { body: sent } : {}) });
    t.is(answer.status, status, `${method} ${path}`);
    left -= 1;
    const header = (name: string) => answer.headers.get(name);
    t.is(header('x-ratelimit-limit'), '9');
    t.is(header('x-ratelimit-remaining'), String(left), `${method} ${path}`);
    const reset = Number(header('x-ratelimit-reset'));
    t.true(reset >= before && reset <= Date.now() / 1000 + 3602, `reset ${reset}`);
    t.is(header('ratelimit-policy'), '"hour";q=9;w=3600');
    const [, remaining, seconds] = /^"hour";r=(\d+);t=(\d+)$/.exec(header('ratelimit') ?? '') ?? [];
    t.is(remaining, String(left));
    t.true(Math.abs(Date.now() / 1000 + Number(seconds) - reset) < 20, `reset ${reset}, in ${seconds} s`);
    t.is(header('retry-after'), null);
  }
});

test('the request above the limit gets 429 with the wait, other keys go on, and it is not counted as use', async (t) => {
  const own = await tenant(platform);
  const [key, other] = await Promise.all([keyOf(own, { rateLimit: 3 }), keyOf(own, { rateLimit: 3 })]);
  const answers = await Promise.all(Array.from({ length: 10 }, () => use({ 'x-api-key': key })));
  t.is(answers.filter(({ status }) => status === 200).length, 3);
  const over = answers.filter(({ status }) => status === 429);
  t.is(over.length, 7);
  for (const { headers, body } of over) {
    const wait = Number(headers.get('retry-after'));
    t.true(wait >= 1 && wait <= 3600);
    t.like(body, { error: { code: 'RATE_LIMITED' }, retryAfter: wait });
    t.is(headers.get('x-ratelimit-remaining'), '0');
    t.is(headers.get('x-ratelimit-limit'), '3');
    t.regex(headers.get('ratelimit') ?? '', /^"hour";r=0;t=\d+$/);
  }
  t.is((await use({ 'x-api-key': other })).status, 200);
  t.is((await used(key))?.n, 3);
  t.is((await platform.call('GET', SITES, { token: own.orgAdmin.token })).headers.get('x-ratelimit-limit'), null);
});

test('a limit that is changed counts at once, against what was used before', async (t) => {
  const key = await keyOf(await tenant(platform), { rateLimit: 2 });
  const status = async () => (await use({ 'x-api-key': key })).status;
  t.deepEqual([await status(), await status(), await status()], [200, 200, 429]);
  const setLimit = (limit: number) =>
    platform.sql('update api_keys set rate_limit = $2 where key_hash = $1', [sha256Hex(key), limit]);
  await setLimit(100);
  const end = Date.now() + 10_000;
  while ((await status()) !== 200 && Date.now() < end);
  t.is(await status(), 200);
});

test('uses at the same time are all counted', async (t) => {
  const own = await tenant(platform);
  const keys = await Promise.all([1, 2, 3].map(() => keyOf(own)));
  const before = new Date();
  await Promise.all(Array.from({ length: 150 }, (_, n) => use({ 'x-api-key': keys[n % 3] ?? '' })));
  for (const key of keys) {
    const row = await used(key);
    t.is(row?.n, 50);
    t.true(row?.at !== null && row !== undefined && row.at.getTime() >= before.getTime() - 1000);
  }
});

test('uses of a key that was rotated meanwhile do not count for the new one', async (t) => {
  const own = await tenant(platform);
  const key = await keyOf(own);
  const [{ id } = { id: '' }] = await platform.sql<{ id: string }>('select id from api_keys where key_hash = $1', [
    sha256Hex(key),
  ]);
  const uses = Promise.all(Array.from({ length: 40 }, () => use({ 'x-api-key': key })));
  const rotated = await platform.call<{ key: string }>('POST', `/api-keys/${id}/rotate`, { token: own.orgAdmin.token });
  await uses;
  t.like(await used(rotated.body.key), { n: 0, at: null });
});

test('processes that count the same keys at once do not wait for each other for ever', async (t) => {
  const own = await tenant(platform);
  const keys = await Promise.all(Array.from({ length: 10 }, () => keyOf(own, { rateLimit: 100_000 })));
  const second = await joinTestPlatform(platform);
  const ask = (process: { call: typeof platform.call }, key: string) => process.call('GET', SITES, { apiKey: key });
  for (let round = 0; round < 5; round++) {
    await Promise.all([...keys.map((key) => ask(platform, key)), ...keys.toReversed().map((key) => ask(second, key))]);
  }
  await second.platform.settle();
  for (const key of keys) t.is((await used(key))?.n, 10);
  await second.stop();
});

const withRedis = hasRedisServer() ? test : test.skip;

withRedis('with Redis two processes share the hour of a key, and without it a valid key is still let in', async (t) => {
  const redis = await startRedis(await freePort());
  const env = { REDIS_URL: redis.url };
  const one = await startTestPlatform(env);
  const two = await joinTestPlatform(one, env);
  const { orgId, orgAdmin } = await tenant(one);
  const key = await apiKey(one, { orgId, scopes: ['sites:read'], createdBy: orgAdmin.id, rateLimit: 10 });
  const ask = (n: number) => (n % 2 ? one : two).call('GET', SITES, { apiKey: key });
  try {
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => ask(n)));
    t.is(answers.filter(({ status }) => status === 200).length, 10);
    t.is(answers.filter(({ status }) => status === 429).length, 20);
    const left = answers
      .filter(({ status }) => status === 200)
      .map(({ headers }) => headers.get('x-ratelimit-remaining'));
    t.deepEqual(left.sort(), ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    await one.platform.settle();
    await two.platform.settle();
    const [row] = await one.sql('select usage_count::int as n from api_keys where org_id = $1', [orgId]);
    t.is(row?.n, 10);
    await redis.stop();
    const blind = await ask(0);
    t.deepEqual([blind.status, blind.headers.get('x-ratelimit-limit')], [200, null]);
  } finally {
    await two.stop();
    await one.stop();
    await redis.stop();
  }
});
