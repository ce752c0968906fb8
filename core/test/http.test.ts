/** The HTTP surface that every route shares. */
import { join } from 'node:path';
import test from 'ava';
import { type ErrorBody, orgUser, startTestPlatform, tenant } from '#test';

const platform = await startTestPlatform({ ENABLE_2FA: 'true' }, join(import.meta.dirname, 'modules'));
test.after.always(() => platform.stop());

test('health answers at the host root, with the version', async (t) => {
  t.deepEqual((await platform.call('GET', '//health')).body, { status: 'ok', version: '0.1.0' });
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
  t.like(answer.body, { status: 401, code: 'UNAUTHENTICATED' });
});

test('a body over the limit gets 413', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const answer = await platform.call<ErrorBody>('POST', '/probe/notes', {
    token: orgAdmin.token,
    body: { text: 'x'.repeat(1_100_000), next: 'audit' },
  });
  t.deepEqual([answer.status, answer.body.error.code], [413, 'PAYLOAD_TOO_LARGE']);
});

test('a declared limit answers 429 with the wait in header and body', async (t) => {
  const ask = () => platform.call<ErrorBody & { retryAfter: number }>('GET', '/probe/limited');
  t.deepEqual([(await ask()).status, (await ask()).status], [200, 200]);
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
  const { partner, partnerId, orgId, viewer } = await tenant(platform);
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
    paths: Record<string, Record<string, { 'x-permission': string }>>;
  }>('GET', '/openapi.json');
  t.is(body.openapi, '3.1.0');
  t.is(body.paths['/probe/notes']?.get?.['x-permission'], 'devices:read');
  const page = await platform.call<string>('GET', '//docs');
  t.regex(page.body, /Writes a note/);
});

test('a route without access cannot be added to the server', (t) => {
  const error = t.throws(() => platform.platform.server?.route({ method: 'GET', path: '/open', handler: () => 'x' }));
  t.regex(error?.message ?? '', /GET \/open has no access|\/open/);
});
