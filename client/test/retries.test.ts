/** What is sent again, what never is, and how long the client waits. */
import test from 'ava';
import { ApiError } from '../src/api-error.ts';
import { type Client, type ClientOptions, createClient } from '../src/client.ts';
import { askedPause } from '../src/retries.ts';

const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });
const refusal = (status: number, code: string, headers?: Record<string, string>) =>
  json(status, { error: { code, message: code.toLowerCase(), details: [] } }, headers);
const BROKEN = new TypeError('fetch failed');

/** A client whose server gives these answers, one after the other, and what it was sent. */
function scripted(answers: (Response | Error)[], options: Partial<ClientOptions> = {}) {
  const sent: Request[] = [];
  const client = createClient({
    baseUrl: 'https://rmm.example.com/',
    apiKey: 'qm_key',
    retries: { baseMs: 0 },
    fetch: async (request) => {
      sent.push(request);
      const answer = answers[sent.length - 1] ?? BROKEN;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    ...options,
  });
  return { client, sent };
}
const ORGANIZATION = { body: { name: 'Contoso', slug: 'contoso' } };

test('a reading request is repeated after broken connections and servers that are away', async (t) => {
  const { client, sent } = scripted([
    BROKEN,
    refusal(503, 'UNAVAILABLE'),
    new Response('', { status: 502 }),
    json(200, { id: '1' }),
  ]);
  t.deepEqual((await client.get('/auth/me')) as unknown, { id: '1' });
  t.is(sent.length, 4);
  t.is(sent[3]?.url, 'https://rmm.example.com/api/v1/auth/me');
  t.is(sent[3]?.headers.get('x-api-key'), 'qm_key');
});

test('a change that heeds it gets one Idempotency-Key for all its attempts', async (t) => {
  const at = { path: { id: 'x' } };
  const changes = [
    (client: Client) => client.patch('/orgs/sites/{id}', { ...at, body: { name: 'B' } }),
    (client: Client) => client.delete('/orgs/sites/{id}', at),
  ];
  for (const change of changes) {
    const { client, sent } = scripted([BROKEN, refusal(503, 'REQUEST_EXPIRED'), json(200, {})]);
    await change(client);
    t.is(sent.length, 3);
    t.is(new Set(sent.map(({ headers }) => headers.get('idempotency-key'))).size, 1);
    t.regex(sent[0]?.headers.get('idempotency-key') ?? '', /^[\w-]{36}$/);
  }
});

test('a POST that heeds it gets one Idempotency-Key for all its attempts, with its body', async (t) => {
  const { client, sent } = scripted([BROKEN, refusal(503, 'UNAVAILABLE'), json(201, { id: '1' })]);
  await client.post('/orgs/organizations', ORGANIZATION);
  const keys = sent.map(({ headers }) => headers.get('idempotency-key'));
  t.regex(keys[0] ?? '', /^[\w-]{36}$/);
  t.is(new Set(keys).size, 1);
  for (const request of sent) t.deepEqual(await request.json(), ORGANIZATION.body);
  const own = scripted([json(201, {})]);
  await own.client.post('/orgs/organizations', { ...ORGANIZATION, idempotencyKey: 'import-7' });
  t.is(own.sent[0]?.headers.get('idempotency-key'), 'import-7');
});

test('what could happen twice is sent once', async (t) => {
  const login = { body: { email: 'ada@example.com', password: 'secret' } };
  for (const answer of [BROKEN, refusal(503, 'UNAVAILABLE')]) {
    const { client, sent } = scripted([answer, answer]);
    await t.throwsAsync(client.post('/auth/login', login));
    t.is(sent[0]?.headers.get('idempotency-key'), null);
    t.is(sent.length, 1);
  }
  // One's own header changes nothing where the server does not know it.
  const keyed = scripted([BROKEN]);
  await t.throwsAsync(keyed.client.post('/auth/login', { ...login, idempotencyKey: 'a' }));
  t.is(keyed.sent.length, 1);
});

test('what was refused for its rate was not carried out, so it is repeated whatever it is', async (t) => {
  const limited = () => refusal(429, 'RATE_LIMITED', { 'retry-after': '0' });
  const { client, sent } = scripted([limited(), limited(), json(200, {})]);
  await client.patch('/orgs/sites/{id}', { path: { id: 'x' }, body: { name: 'B' } });
  t.is(sent.length, 3);
});

test('a refusal is an ApiError and is not repeated; nor is what the server wants to wait for too long', async (t) => {
  const { client, sent } = scripted([
    json(
      400,
      { error: { code: 'VALIDATION_ERROR', message: 'no', details: [{ path: 'name' }] } },
      { 'x-request-id': 'r-1' },
    ),
    refusal(429, 'RATE_LIMITED', { 'retry-after': '3600' }),
  ]);
  const error = await t.throwsAsync(client.post('/orgs/organizations', ORGANIZATION), { instanceOf: ApiError });
  t.deepEqual(
    [error?.status, error?.code, error?.message, error?.details, error?.requestId],
    [400, 'VALIDATION_ERROR', 'no', [{ path: 'name' }], 'r-1'],
  );
  t.is((await t.throwsAsync(client.get('/auth/me'), { instanceOf: ApiError }))?.status, 429);
  t.is(sent.length, 2);
});

test('attempts end, and a caller who leaves ends them sooner', async (t) => {
  const { client, sent } = scripted([], { retries: { baseMs: 0, most: 2 } });
  t.is(await t.throwsAsync(client.get('/auth/me')), BROKEN);
  t.is(sent.length, 3);
  const leaving = new AbortController();
  const waiting = scripted([refusal(503, 'UNAVAILABLE', { 'retry-after': '50' })]);
  const answer = waiting.client.get('/auth/me', { signal: leaving.signal });
  leaving.abort(new Error('enough'));
  await t.throwsAsync(answer, { message: 'enough' });
});

test('a token that was refused is replaced once', async (t) => {
  const asked: (string | undefined)[] = [];
  const accessToken = (refused?: string) => {
    asked.push(refused);
    return refused ? 'new' : 'old';
  };
  const { client, sent } = scripted(
    [refusal(401, 'UNAUTHORIZED'), json(201, {}), refusal(401, 'UNAUTHORIZED'), refusal(401, 'UNAUTHORIZED')],
    {
      accessToken,
    },
  );
  await client.post('/orgs/organizations', ORGANIZATION);
  t.deepEqual(
    sent.map(({ headers }) => headers.get('authorization')),
    ['Bearer old', 'Bearer new'],
  );
  await t.throwsAsync(client.get('/auth/me'), { instanceOf: ApiError });
  t.deepEqual(asked, [undefined, 'old', undefined, 'old']);
});

test('the pause is what Retry-After says, else the reset of the exhausted limit', (t) => {
  const of = (headers: Record<string, string>) => askedPause(new Headers(headers), Date.parse('2030-01-01T00:00:00Z'));
  t.is(of({ 'retry-after': '7' }), 7000);
  t.is(of({ 'retry-after': 'Tue, 01 Jan 2030 00:00:30 GMT' }), 30_000);
  t.is(of({ 'retry-after': 'Mon, 31 Dec 2029 00:00:00 GMT' }), 0);
  t.is(of({ ratelimit: '"minute";r=0;t=12, "hour";r=5;t=900' }), 12_000);
  t.is(of({ ratelimit: '"minute";r=5;t=12' }), undefined);
  t.is(of({ 'retry-after': 'soon' }), undefined);
});

test('a list is walked page by page, in each form that answers have', async (t) => {
  const { client, sent } = scripted([
    json(200, { data: [{ id: 'a' }], pagination: { hasMore: true, cursor: 'next' } }),
    json(200, { data: [{ id: 'b' }], pagination: { hasMore: false, cursor: null } }),
    json(200, { devices: [{ id: 'c' }], nextCursor: null, limit: 50 }),
  ]);
  const ids: string[] = [];
  for await (const { id } of client.paginate('/orgs/sites', { query: { orgId: 'o', limit: 1 } })) ids.push(id);
  for await (const { id } of client.paginate('/devices')) ids.push(id);
  t.deepEqual(ids, ['a', 'b', 'c']);
  t.deepEqual(
    sent.map(({ url }) => new URL(url).search),
    ['?orgId=o&limit=1&cursor=', '?orgId=o&limit=1&cursor=next', '?cursor='],
  );
});

test('nothing is redirected, so that a key never goes to another host', async (t) => {
  const { client, sent } = scripted([
    new Response(null, { status: 302, headers: { location: 'https://evil.example' } }),
  ]);
  t.is((await t.throwsAsync(client.get('/auth/me'), { instanceOf: ApiError }))?.status, 302);
  t.is(sent[0]?.redirect, 'manual');
});
