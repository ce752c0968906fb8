/** The HTTP surface that every route shares. */
import { join } from 'node:path';
import test from 'ava';
import { type ErrorBody, orgUser, startTestPlatform, tenant } from '#test';
import manifest from '../../package.json' with { type: 'json' };

interface ApiDocument {
  paths: Record<string, { get?: { deprecated?: boolean } }>;
  components: { schemas: { Error: { properties: { error: { properties: { code: { enum: string[] } } } } } } };
}

const platform = await startTestPlatform({}, join(import.meta.dirname, 'modules'));
test.after.always(() => platform.stop());

test('health answers at the host root, with the version of package.json', async (t) => {
  t.like((await platform.call('GET', '//health')).body, { status: 'ok', version: manifest.version });
  t.is((await platform.call('GET', '//health/live')).status, 200);
  t.like((await platform.call('GET', '//health/ready')).body, { status: 'ready' });
});

test('metrics are in Prometheus’ form and count requests by route', async (t) => {
  await platform.call('GET', '//health');
  const { body, headers } = await platform.call<string>('GET', '//metrics');
  t.regex(headers.get('content-type') ?? '', /^text\/plain/);
  t.regex(body, /http_request_duration_seconds_count\{route="\/health",method="get",status="200"\} \d+/);
  t.regex(body, /nodejs_eventloop_lag/);
});

test('an unknown path and broken JSON get the error envelope, and the request id comes back', async (t) => {
  const lost = await platform.call<ErrorBody>('GET', '/nowhere', { headers: { 'x-request-id': 'my-request-1' } });
  t.deepEqual(lost.body, { error: { code: 'NOT_FOUND', message: 'No such path or method', details: [] } });
  t.is(lost.headers.get('x-request-id'), 'my-request-1');
  const { orgAdmin } = await tenant(platform);
  const broken = await platform.call<ErrorBody>('POST', '/probe/notes', { token: orgAdmin.token, body: '{"text":' });
  t.deepEqual([broken.status, broken.body.error.code], [400, 'VALIDATION_ERROR']);
});

test('problem details come where the caller asks for them', async (t) => {
  const answer = await platform.call<{ status: number; code: string }>('GET', '/probe/notes', {
    headers: { accept: 'application/problem+json' },
  });
  t.is(answer.headers.get('content-type'), 'application/problem+json');
  t.like(answer.body, { status: 401, code: 'UNAUTHENTICATED', type: '/docs/errors#UNAUTHENTICATED' });
});

test('the page of error codes has every code, and is where problem details point', async (t) => {
  const { body } = await platform.call<string>('GET', '//docs/errors');
  const { body: document } = await platform.call<ApiDocument>('GET', '/openapi.json');
  const codes = document.components.schemas.Error.properties.error.properties.code.enum;
  t.true(codes.length > 20);
  t.deepEqual(
    codes.filter((code) => !body.includes(`<tr id="${code}">`)),
    [],
  );
});

test('a route that goes says since when, until when, and what takes its place', async (t) => {
  const { headers } = await platform.call('GET', '/probe/old');
  t.is(headers.get('deprecation'), '@1767225600');
  t.is(headers.get('sunset'), 'Fri, 01 Jan 2027 00:00:00 GMT');
  t.is(headers.get('link'), '</api/v1/probe/notes>; rel="successor-version"');
  const { body } = await platform.call<ApiDocument>('GET', '/openapi.json');
  t.true(body.paths['/probe/old']?.get?.deprecated);
});

test('long answers are compressed as the caller prefers', async (t) => {
  const coding = async (accept: string) => {
    const { headers, body } = await platform.call('GET', '/probe/old', { headers: { 'accept-encoding': accept } });
    t.is((body as { text: string }).text.length, 8000);
    return headers.get('content-encoding');
  };
  t.is(await coding('gzip, deflate, br'), 'br');
  t.is(await coding('gzip'), 'gzip');
  t.is(await coding('br;q=0.1, gzip'), 'gzip');
  t.is(await coding('identity'), null);
});

test('a body over the limit gets 413', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const answer = await platform.call<ErrorBody>('POST', '/probe/notes', {
    token: orgAdmin.token,
    body: { text: 'x'.repeat(1_100_000), next: 'audit' },
  });
  t.deepEqual([answer.status, answer.body.error.code], [413, 'PAYLOAD_TOO_LARGE']);
});

test('a declared limit is told as structured fields, and answers 429 with the wait in header and body', async (t) => {
  const ask = () => platform.call<ErrorBody & { retryAfter: number }>('GET', '/probe/limited');
  const { headers } = await ask();
  t.regex(headers.get('ratelimit') ?? '', /^"probe";r=1;t=\d+$/);
  t.is(headers.get('ratelimit-policy'), '"probe";q=2;w=60');
  t.is((await ask()).status, 200);
  const over = await ask();
  t.deepEqual([over.status, over.body.error.message], [429, 'Slow down']);
  t.is(Number(over.headers.get('retry-after')), over.body.retryAfter);
});

test('forged, foreign and ended tokens are refused', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const [head, claims] = orgAdmin.token.split('.');
  const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url');
  for (const token of [`${none}.${claims}.`, `${head}.${claims}.AAAA`, 'x', '']) {
    t.is((await platform.call('GET', '/probe/notes', { token })).status, 401, token);
  }
  await platform.sql('update sessions set revoked_at = now() where id = $1', [orgAdmin.sessionId]);
  t.is((await platform.call('GET', '/probe/notes', { token: orgAdmin.token })).status, 401);
});

test('the order of denials: inactive partner, then forced enrollment, then permission, then second factor', async (t) => {
  const { partner, partnerId, orgId, viewer } = await tenant({ ...platform, newcomers: true });
  const code = async (token: string, method = 'GET', path = '/probe/notes') =>
    (await platform.call<Partial<ErrorBody>>(method, path, { token, ...(method === 'POST' ? { body: {} } : {}) })).body
      .error?.code;
  t.is(await code(partner.token), 'MFA_REQUIRED');
  await platform.sql(`update users set mfa_enabled = true, mfa_method = 'totp' where id = $1`, [partner.id]);
  t.is(await code(viewer.token, 'POST', '/probe/world'), 'FORBIDDEN');
  const weak = await orgUser(platform, { orgId, mfa: false });
  t.is(await code(weak.token, 'POST', '/probe/world'), 'MFA_VERIFICATION_REQUIRED');
  await platform.sql(`update partners set status = 'suspended' where id = $1`, [partnerId]);
  const fresh = await orgUser(platform, { orgId });
  t.is(await code(fresh.token), 'PARTNER_INACTIVE');
});

test('the API document lists the routes with their access', async (t) => {
  const { body } = await platform.call<{
    openapi: string;
    paths: Record<string, Record<string, { 'x-permission': string; summary: string }>>;
  }>('GET', '/openapi.json');
  t.is(body.openapi, '3.1.0');
  t.is(body.paths['/probe/notes']?.get?.['x-permission'], 'devices:read');
  t.like(body.paths['/probe/notes']?.post, { summary: 'Writes a note' });
});

test('the page of the document comes whole from this server, and its policy allows nothing else', async (t) => {
  const page = await platform.call<string>('GET', '//docs');
  const policy = page.headers.get('content-security-policy') ?? '';
  t.true(policy.startsWith("default-src 'none'"));
  t.notRegex(policy, /https?:|\*|unsafe-eval/);
  const parts = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
  t.true(parts.length >= 5);
  for (const path of parts) {
    t.true(path.startsWith('/'), path);
    const part = await platform.call<string>('GET', `/${path}`);
    t.is(part.status, 200, path);
    t.true(JSON.stringify(part.body).length > 100, path);
  }
});

test('a route without access cannot be added to the server', (t) => {
  const error = t.throws(() => platform.platform.server?.route({ method: 'GET', path: '/open', handler: () => 'x' }));
  t.regex(error?.message ?? '', /GET \/open has no access|\/open/);
});
