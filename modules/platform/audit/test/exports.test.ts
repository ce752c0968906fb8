/** POST and GET /audit-logs/export: what a download holds, and what a spreadsheet must not run. */
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import test from 'ava';
import { type ErrorBody, sharedPlatform, tenant } from '#test';
import { record } from './outbox.ts';

const platform = await sharedPlatform();
test.after.always(() => platform.stop());

const COLUMNS =
  'id,timestamp,actorId,actorName,actorEmail,action,resourceType,resourceId,resourceName,category,result,ipAddress,userAgent,details';
const post = (token: string, body: object) =>
  platform.call<string & { data: Record<string, unknown>[]; total: number } & ErrorBody>('POST', '/audit-logs/export', {
    token,
    body,
  });

test('CSV has the documented columns, a type, a file name, and leaves an entry', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  await record(platform, orgId, [
    { action: 'site.update', resourceName: 'A "quoted", name', details: { a: 1 } },
    { action: 'device.create' },
  ]);
  const { status, body, headers } = await post(orgAdmin.token, { format: 'csv' });
  t.is(status, 200);
  t.regex(headers.get('content-type') ?? '', /^text\/csv/);
  t.regex(headers.get('content-disposition') ?? '', /^attachment; filename="audit-logs-[\d-]+\.csv"$/);
  const [head, newest, older, end] = body.split('\n');
  t.is(head, COLUMNS);
  t.regex(newest ?? '', /,device\.create,.*,device,success,,,\{\}$/);
  t.true(older?.includes('"A ""quoted"", name"') && older.endsWith('"{""a"":1}"'), older);
  t.is(end, '');
  const [entry] = await platform.audits({ action: 'audit_logs.export', orgId });
  t.like(entry, { actor_id: orgAdmin.id, details: { format: 'csv', rows: 2 }, result: 'success' });
});

test('JSON is the default and carries the same columns with the details as an object', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  await record(platform, orgId, [{ action: 'a.b', details: { deep: { list: [1, 'é'] } } }]);
  const { body, headers } = await post(orgAdmin.token, {});
  t.regex(headers.get('content-type') ?? '', /json/);
  t.is(body.total, 1);
  t.is(Object.keys(body.data[0] ?? {}).join(), COLUMNS);
  t.deepEqual(body.data[0]?.details, { deep: { list: [1, 'é'] } });
  const empty = await post((await tenant(platform)).orgAdmin.token, {});
  t.deepEqual(empty.body as object, { data: [], total: 0 });
});

test('filters and the date range narrow an export', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  await record(platform, orgId, [
    { action: 'a.one', at: '2026-01-01T00:00:00.000Z', actorEmail: 'ann@example.com' },
    { action: 'a.two', at: '2026-01-02T00:00:00.000Z', actorEmail: 'bob@example.com', resourceName: 'Printer' },
    { action: 'b.three', at: '2026-01-03T00:00:00.000Z', actorEmail: 'bob@example.com' },
  ]);
  const actions = async (body: object) => (await post(orgAdmin.token, body)).body.data.map((row) => row.action);
  t.deepEqual(await actions({ filters: { user: 'BOB' } }), ['b.three', 'a.two']);
  t.deepEqual(await actions({ filters: { user: 'bob', action: 'a.' } }), ['a.two']);
  t.deepEqual(await actions({ filters: { resource: 'print' } }), ['a.two']);
  t.deepEqual(await actions({ dateRange: { from: '2026-01-02T00:00:00Z', to: '2026-01-02T00:00:00Z' } }), ['a.two']);
  const bad = await post(orgAdmin.token, { format: 'xml' });
  t.deepEqual([bad.status, bad.body.error.code], [400, 'VALIDATION_ERROR']);
});

test('GET exports CSV, of one actor when asked', async (t) => {
  const { orgId, orgAdmin, viewer } = await tenant(platform);
  await record(platform, orgId, [
    { action: 'a.one', actorType: 'user', actorId: orgAdmin.id },
    { action: 'a.two', actorType: 'user', actorId: viewer.id },
  ]);
  const get = (query: string) =>
    platform.call<string & ErrorBody>('GET', `/audit/export?${query}`, { token: orgAdmin.token });
  const one = await get(`userId=${viewer.id}`);
  t.regex(one.headers.get('content-type') ?? '', /^text\/csv/);
  t.is(one.body.trim().split('\n').length, 2);
  t.true(one.body.includes('a.two'));
  await platform.settle();
  t.is((await get('')).body.trim().split('\n').length, 4, 'the export before is an entry by now');
  t.is((await get('userId=someone')).status, 400);
});

test('an export ends at 10,000 entries, the newest', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  await record(
    platform,
    orgId,
    Array.from({ length: 10_002 }, (_, n) => ({ action: 'a.b', resourceName: `row ${n}` })),
  );
  const { body } = await post(orgAdmin.token, { format: 'csv' });
  const lines = body.trim().split('\n');
  t.is(lines.length, 10_001);
  t.true(lines[1]?.includes('row 10001'));
  t.true(lines.at(-1)?.includes('row 2,'));
  const { body: json } = await post(orgAdmin.token, { filters: { action: 'a.b' } });
  t.deepEqual([json.total, json.data.length, new Set(json.data.map((row) => row.id)).size], [10_000, 10_000, 10_000]);
  t.deepEqual(
    (await readdir(tmpdir())).filter((name) => name.startsWith('quartermaster-export-')),
    [],
  );
});

test('cells that a spreadsheet would run as formulas get an apostrophe', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  const evil = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1'];
  await record(
    platform,
    orgId,
    evil.map((name) => ({ action: 'a.b', resourceName: name, userAgent: name, actorName: name })),
  );
  const { body } = await post(orgAdmin.token, { format: 'csv' });
  for (const name of evil) {
    const shown = name.startsWith('\r') ? `"'${name}"` : `'${name}`;
    t.is(body.split(`,${shown},`).length - 1, 3, JSON.stringify(name));
    t.false(body.includes(`,${name}`), JSON.stringify(name));
  }
});

test('nobody exports another tenant’s entries, and a role without the permission exports nothing', async (t) => {
  const [mine, theirs] = [await tenant(platform), await tenant(platform)];
  await record(platform, theirs.orgId, [{ action: 'a.secret' }]);
  t.is((await post(mine.partner.token, { filters: { orgId: theirs.orgId } })).status, 403);
  // The refusal of a moment ago may be listed by now.
  const own = await post(mine.partner.token, {});
  t.false(own.body.data.some(({ action }) => action === 'a.secret'));
  t.is((await post(mine.viewer.token, {})).status, 403);
  t.is((await platform.call('GET', '/audit-logs/export', { token: mine.viewer.token })).status, 403);
  const [denied] = await platform.audits({ action: 'audit_logs.export', orgId: mine.orgId });
  t.like(denied, { result: 'denied', actor_id: mine.viewer.id });
});
