/** GET /audit-logs, search, and the same functions under /audit. */
import test from 'ava';
import { apiKey, type ErrorBody, organization, sharedPlatform, systemUser, tenant } from '#test';
import { record } from './outbox.ts';

interface Flat {
  entries: Record<string, unknown>[];
  pagination: { page: number; limit: number; total?: number; totalPages?: number; cursor?: string | null };
}
interface Full {
  data: { id: string; action: string; orgId: string | null }[];
  pagination: { total?: number; cursor?: string | null; hasMore?: boolean };
}
const platform = await sharedPlatform();
test.after.always(() => platform.stop());
const flat = (token: string, query = '') => platform.call<Flat & ErrorBody>('GET', `/audit-logs?${query}`, { token });

test('the flat list has exactly the documented fields', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  await record(platform, orgId, [
    {
      action: 'site.update',
      at: '2026-01-02T03:04:05.678Z',
      actorType: 'user',
      actorId: orgAdmin.id,
      actorEmail: orgAdmin.email,
      actorName: 'Ann',
      resourceName: 'Harbour',
      details: { before: { name: 'Old' }, after: { name: 'New' } },
      ipAddress: '192.0.2.1',
      userAgent: 'curl/8',
    },
  ]);
  const { body } = await flat(orgAdmin.token);
  t.is(typeof body.entries[0]?.id, 'string');
  t.deepEqual(body as object, {
    entries: [
      {
        id: body.entries[0]?.id,
        timestamp: '2026-01-02T03:04:05.678Z',
        action: 'site.update',
        resource: 'Harbour',
        resourceType: 'site',
        details: '{"after":{"name":"New"},"before":{"name":"Old"}}',
        ipAddress: '192.0.2.1',
        userAgent: 'curl/8',
        sessionId: null,
        user: { name: 'Ann', email: orgAdmin.email, role: 'Organization Admin', department: null },
        changes: { before: { name: 'Old' }, after: { name: 'New' } },
      },
    ],
    pagination: { page: 1, limit: 50, total: 1, totalPages: 1 },
  });
});

test('where no values are kept, changes name the changed fields; where nothing changed they are empty', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  await record(platform, orgId, [
    { action: 'site.update', details: { changedFields: ['name'] } },
    { action: 'user.login' },
  ]);
  const { entries } = (await flat(orgAdmin.token)).body;
  t.deepEqual(
    entries.map((entry) => entry.changes),
    [
      { before: null, after: null },
      { before: null, after: { changedFields: ['name'] } },
    ],
  );
  t.is(entries[0]?.resource, 'user');
});

test('pages default to 50, hold at most 100, and count the pages; skipCount leaves the totals out', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  await record(
    platform,
    orgId,
    Array.from({ length: 130 }, (_, n) => ({ action: 'device.update', resourceName: `pc-${n}` })),
  );
  const first = (await flat(orgAdmin.token)).body;
  t.is(first.entries.length, 50);
  t.deepEqual(first.pagination, { page: 1, limit: 50, total: 130, totalPages: 3 });
  const large = (await flat(orgAdmin.token, 'limit=1000')).body;
  t.is(large.entries.length, 100);
  t.deepEqual(large.pagination, { page: 1, limit: 100, total: 130, totalPages: 2 });
  const last = (await flat(orgAdmin.token, 'page=3')).body;
  t.is(last.entries.length, 30);
  t.is(last.entries.at(-1)?.resource, 'pc-0');
  t.is(last.pagination.total, 130);
  const beyond = (await flat(orgAdmin.token, 'page=9&action=device')).body;
  t.deepEqual([beyond.entries.length, beyond.pagination.total], [0, 130]);
  t.deepEqual((await flat(orgAdmin.token, 'skipCount=true')).body.pagination, { page: 1, limit: 50 });
  const seen = new Set<unknown>();
  for (let cursor: string | null | undefined = ''; typeof cursor === 'string'; ) {
    const { body } = await flat(orgAdmin.token, `limit=40&cursor=${cursor}`);
    for (const entry of body.entries) seen.add(entry.id);
    cursor = body.pagination.cursor;
  }
  t.is(seen.size, 130);
  t.is((await flat(orgAdmin.token, 'cursor=bm90IG91cnM')).body.error.code, 'INVALID_CURSOR');
});

test('search finds a text in action, email, resource type, resource name or details, in any case, within the filters', async (t) => {
  const { orgId, orgAdmin, partner } = await tenant(platform);
  await record(platform, orgId, [
    { action: 'needle.create' },
    { action: 'a.b', actorEmail: 'Needle@example.com' },
    { action: 'a.c', resourceType: 'needles' },
    { action: 'a.d', resourceName: 'The NEEDLE' },
    { action: 'a.e', details: { deep: [{ note: 'a Needle here' }] }, result: 'failure' },
    { action: 'a.f', resourceName: 'ne_dle', actorName: 'needle' },
  ]);
  const search = async (token: string, query: string) =>
    (await platform.call<Full & ErrorBody>('GET', `/audit-logs/search?${query}`, { token })).body;
  const found = await search(orgAdmin.token, 'q=nEEdle');
  t.deepEqual(
    found.data.map((entry) => entry.action),
    ['a.e', 'a.d', 'a.c', 'a.b', 'needle.create'],
  );
  t.is(found.pagination.total, 5);
  const both = await search(orgAdmin.token, 'q=needle&action=a.&resource=NEEDLES');
  t.deepEqual(
    both.data.map((entry) => entry.action),
    ['a.c'],
  );
  t.is((await search(orgAdmin.token, 'q=ne_dle')).data.length, 1);
  t.is((await search(partner.token, `q=needle&orgId=${orgId}&limit=2&cursor=`)).pagination.hasMore, true);
  t.is((await search(orgAdmin.token, 'q=')).error.code, 'VALIDATION_ERROR');
  t.is((await search(orgAdmin.token, 'action=a')).error.details[0]?.path, 'q');
});

test('each function answers the same under /audit', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  await record(platform, orgId, [{ action: 'user.login', actorType: 'user', actorId: orgAdmin.id }]);
  const { token } = orgAdmin;
  const [entry] = (await platform.call<Full>('GET', '/audit-logs/logs', { token })).body.data;
  const paths = [
    '',
    '/logs',
    `/logs/${entry?.id}`,
    '/search?q=login',
    '/reports/user-activity',
    '/reports/security-events',
    '/reports/compliance',
    '/stats',
  ];
  for (const path of paths) {
    const [long, short] = [
      await platform.call('GET', `/audit-logs${path}`, { token }),
      await platform.call('GET', `/audit${path}`, { token }),
    ];
    t.is(short.status, 200, path);
    t.deepEqual(short.body, long.body, path);
  }
});

test('a partner’s totals and pages span its organizations and its own rows; the system’s span all', async (t) => {
  const { orgId, partnerId, partner, orgAdmin } = await tenant(platform);
  const second = await organization(platform, partnerId);
  const stranger = await tenant(platform);
  await record(platform, orgId, [{ action: 'a.one' }, { action: 'a.two' }]);
  await record(platform, second.orgId, [{ action: 'a.three' }]);
  await record(platform, null, [{ action: 'a.four', partnerId }]);
  await record(platform, stranger.orgId, [{ action: 'a.five' }]);
  const all = (await flat(partner.token, 'limit=3')).body;
  t.is(all.pagination.total, 4);
  t.deepEqual(
    all.entries.map((entry) => entry.action),
    ['a.four', 'a.three', 'a.two'],
  );
  t.is((await flat(partner.token, 'limit=3&page=2')).body.entries[0]?.action, 'a.one');
  t.is((await flat(partner.token, 'action=a.t')).body.pagination.total, 2);
  t.is((await flat(orgAdmin.token)).body.pagination.total, 2);
  t.is((await flat(partner.token, `orgId=${stranger.orgId}`)).status, 403);
  const { token } = await systemUser(platform);
  const everything = (await flat(token, 'limit=1')).body.pagination.total ?? 0;
  const [row] = await platform.sql<{ n: number }>('select count(*)::int as n from audit_logs');
  t.is(everything, row?.n ?? -1);
  t.is((await flat(token, `orgId=${stranger.orgId}`)).body.pagination.total, 1);
});

test('an API key reads with audit:read and exports with audit:export, and with nothing else', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  await record(platform, orgId, [{ action: 'a.one' }]);
  const [reads, exports] = await Promise.all(
    ['audit:read', 'audit:export'].map((scope) => apiKey(platform, { orgId, scopes: [scope], createdBy: orgAdmin.id })),
  );
  const status = async (key: string | undefined, path: string) =>
    (await platform.call('GET', path, { apiKey: key ?? '' })).status;
  t.is(await status(reads, '/audit-logs'), 200);
  t.is(await status(reads, '/audit-logs/export'), 403);
  t.is(await status(exports, '/audit-logs/export'), 200);
  t.is(await status(exports, '/audit-logs/stats'), 403);
});
