/** Devices in groups: added, removed, pinned, listed, previewed and logged. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { startTestPlatform, tenant } from '#test';
import { caller, place, where } from './arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const { call, code, dynamic, fixed, hosts, log, patch, patchDevice, read } = caller(platform);

const web = where(['hostname', 'startsWith', 'web']);
const add = (token: string, groupId: string, deviceIds: string[]) =>
  call<{ added: number; skipped: number; total: number }>('POST', `/${groupId}/devices`, token, { deviceIds });

test('devices are added to a static group once and removed, and both are audited', async (t) => {
  const { token, id, orgId } = await place(platform, 'a', 'b', 'c');
  const group = (await fixed(token, [id('a')])).body.data.id;
  t.deepEqual((await add(token, group, [id('a'), id('b'), id('c')])).body as object, {
    added: 2,
    skipped: 1,
    total: 3,
  });
  t.deepEqual((await add(token, group, [id('b')])).body as object, { added: 0, skipped: 1, total: 3 });
  t.deepEqual((await call('DELETE', `/${group}/devices/${id('b')}`, token)).body, { success: true } as object);
  t.is((await call('DELETE', `/${group}/devices/${id('b')}`, token)).status, 404);
  t.deepEqual(await hosts(token, group), ['a', 'c']);
  t.is((await read(token, group)).deviceCount, 2);
  t.deepEqual(await log(group), ['added group_created a', 'added manual b', 'added manual c', 'removed manual b']);
  const audits = (await platform.audits({ orgId })).filter(({ action }) => action.startsWith('device_group.device.'));
  t.deepEqual(
    audits.map(({ action, resource_id, details }) => [action, resource_id, details]),
    [
      ['device_group.device.add', group, { deviceIds: [id('b'), id('c')].sort(), count: 2 }],
      ['device_group.device.remove', group, { deviceId: id('b') }],
    ],
  );
});

test('one invalid device prevents the others from being added', async (t) => {
  const mine = await place(platform, 'a', 'b', 'gone');
  const theirs = await place(platform, 'theirs');
  const { token, id, siteId, secondSiteId } = mine;
  const group = (await fixed(token, [], { siteId })).body.data.id;
  await patchDevice(token, id('b'), { siteId: secondSiteId });
  await platform.call('DELETE', `/devices/${id('gone')}`, { token });
  for (const bad of [theirs.id('theirs'), id('b'), id('gone'), randomUUID()]) {
    const { status, body } = await add(token, group, [id('a'), bad]);
    t.deepEqual([status, (body.error.details[0] as { invalidDevices?: string[] }).invalidDevices], [400, [bad]]);
  }
  t.deepEqual(await hosts(token, group), []);
  const { status } = await fixed(token, [id('a'), theirs.id('theirs')]);
  t.is(status, 400);
  t.is((await add(token, group, [])).status, 400);
  const many = Array.from({ length: 1001 }, () => randomUUID());
  t.is((await add(token, group, many)).status, 400);
});

test('operations of dynamic groups are errors for static ones, and the reverse', async (t) => {
  const { token, id } = await place(platform, 'web-1');
  const [followed, chosen] = [(await dynamic(token, web)).body.data.id, (await fixed(token)).body.data.id];
  t.deepEqual(code(await add(token, followed, [id('web-1')])), [400, 'DYNAMIC_GROUP']);
  t.deepEqual(code(await call('DELETE', `/${followed}/devices/${id('web-1')}`, token)), [400, 'DYNAMIC_GROUP']);
  t.deepEqual(code(await call('POST', `/${chosen}/devices/${id('web-1')}/pin`, token, {})), [400, 'STATIC_GROUP']);
  t.deepEqual(code(await call('DELETE', `/${chosen}/devices/${id('web-1')}/pin`, token)), [400, 'STATIC_GROUP']);
  t.deepEqual(code(await call('POST', `/${chosen}/preview`, token, {})), [400, 'STATIC_GROUP']);
});

test('a pinned device stays regardless of the filter, until it is unpinned', async (t) => {
  const { token, id, orgAdmin } = await place(platform, 'web-1', 'db-1');
  const group = (await dynamic(token, web)).body.data.id;
  const path = `/${group}/devices/${id('db-1')}/pin`;
  const pinned = await call<{ data: object }>('POST', path, token, { reason: 'our test machine' });
  t.is(pinned.status, 200);
  t.like(pinned.body.data, {
    groupId: group,
    deviceId: id('db-1'),
    isPinned: true,
    isExcluded: false,
    addedBy: 'manual',
    pinnedBy: orgAdmin.id,
    pinReason: 'our test machine',
  });
  t.deepEqual((await call('POST', path, token)).body, pinned.body, 'a repeat changes nothing');
  await patch(token, group, { filter: where(['hostname', 'equals', 'web-1']) });
  t.deepEqual(await hosts(token, group), ['db-1', 'web-1']);
  t.deepEqual(await hosts(token, group, '?pinned=true'), ['db-1']);
  t.deepEqual(await hosts(token, group, '?pinned=false'), ['web-1']);
  t.deepEqual((await call('DELETE', path, token)).body, { stillMember: false } as object);
  t.is((await call('DELETE', path, token)).status, 404);
  t.deepEqual(await hosts(token, group), ['web-1']);
  const own = `/${group}/devices/${id('web-1')}/pin`;
  await call('POST', own, token, {});
  t.deepEqual((await call('DELETE', own, token)).body, { stillMember: true } as object);
  t.deepEqual(await log(group), ['added filter_match web-1', 'added pinned db-1', 'removed unpinned db-1']);
  t.is((await read(token, group)).deviceCount, 1);
});

test('an excluded device stays out although the filter matches, and returns when the exclusion ends', async (t) => {
  const { token, id, orgId } = await place(platform, 'web-1', 'web-2');
  const group = (await dynamic(token, web)).body.data.id;
  const path = `/${group}/devices/${id('web-2')}/pin`;
  await call('POST', path, token, { mode: 'exclude' });
  await patch(token, group, { filter: where(['hostname', 'contains', 'web']) });
  t.deepEqual(await hosts(token, group), ['web-1']);
  t.deepEqual(await hosts(token, group, '?pinned=true'), ['web-2']);
  t.is((await read(token, group)).deviceCount, 1);
  const listed = await platform.call<{ devices: { hostname: string }[] }>('GET', `/devices?groupIds=${group}`, {
    token,
  });
  t.deepEqual(
    listed.body.devices.map((device) => device.hostname),
    ['web-1'],
  );
  await call('POST', path, token, { mode: 'include' });
  await call('POST', path, token, { mode: 'exclude' });
  t.deepEqual((await call('DELETE', path, token)).body, { stillMember: true } as object);
  t.deepEqual(await hosts(token, group), ['web-1', 'web-2']);
  t.deepEqual((await log(group)).filter((entry) => entry.endsWith('web-2')).sort(), [
    'added filter_match web-2',
    'added filter_match web-2',
    'added pinned web-2',
    'removed excluded web-2',
    'removed excluded web-2',
  ]);
  const audits = (await platform.audits({ orgId })).filter(({ action }) => action.includes('pin'));
  t.deepEqual(
    audits.map(({ action, details }) => [action, details]),
    [
      ['device_group.device.pin', { deviceId: id('web-2'), mode: 'exclude', reason: null }],
      ['device_group.device.pin', { deviceId: id('web-2'), mode: 'include', reason: null }],
      ['device_group.device.pin', { deviceId: id('web-2'), mode: 'exclude', reason: null }],
      ['device_group.device.unpin', { deviceId: id('web-2'), mode: 'exclude' }],
    ],
  );
});

test('only active devices of the site that the caller sees can be pinned', async (t) => {
  const { token, id, siteId, secondSiteId } = await place(platform, 'web-1', 'far', 'held');
  const theirs = await place(platform, 'theirs');
  const group = (await dynamic(token, web, { siteId })).body.data.id;
  const pin = (device: string) => call('POST', `/${group}/devices/${device}/pin`, token, {});
  await patchDevice(token, id('far'), { siteId: secondSiteId });
  t.deepEqual(code(await pin(id('far'))), [400, 'OUTSIDE_SITE']);
  await platform.sql(`update devices set lifecycle = 'quarantined' where id = $1`, [id('held')]);
  t.deepEqual(code(await pin(id('held'))), [409, 'INVALID_STATE']);
  t.is((await pin(theirs.id('theirs'))).status, 404);
  t.is((await pin(randomUUID())).status, 404);
});

test('a group loses members outside its site, including pinned ones, when the site is set', async (t) => {
  const { token, id, siteId, secondSiteId } = await place(platform, 'web-1', 'web-2', 'db-1');
  await patchDevice(token, id('web-2'), { siteId: secondSiteId });
  await patchDevice(token, id('db-1'), { siteId: secondSiteId });
  const followed = (await dynamic(token, web)).body.data.id;
  await call('POST', `/${followed}/devices/${id('db-1')}/pin`, token, {});
  const chosen = (await fixed(token, [id('web-1'), id('web-2')])).body.data.id;
  for (const group of [followed, chosen]) {
    const { body } = await patch(token, group, { siteId });
    t.deepEqual(body.evaluation, { added: 0, removed: group === followed ? 2 : 1 });
    t.deepEqual(await hosts(token, group), ['web-1']);
    t.true((await log(group)).includes('removed device_moved web-2'));
  }
  t.deepEqual((await patch(token, followed, { siteId: null })).body.evaluation, { added: 1, removed: 0 });
});

test('the devices of a group are listed as by GET /devices, with search, status, pages and a cursor', async (t) => {
  const { token, id } = await place(platform, 'web-1', 'web-2', 'web-3');
  const group = (await dynamic(token, web)).body.data.id;
  await platform.sql(`update device_state set connectivity = 'offline' where device_id = $1`, [id('web-2')]);
  t.deepEqual(await hosts(token, group, '?search=EB-3'), ['web-3']);
  t.deepEqual(await hosts(token, group, '?status=offline'), ['web-2']);
  t.deepEqual(await hosts(token, group, '?page=2&limit=2'), ['web-3']);
  interface Listed {
    data: { hostname: string; siteName: string; isPinned: boolean; addedBy: string }[];
    pagination: { cursor: string; hasMore: boolean; total: number };
  }
  const list = async (query: string) => (await call<Listed>('GET', `/${group}/devices${query}`, token)).body;
  const first = await list('?limit=2&cursor=');
  t.true(first.pagination.hasMore);
  t.deepEqual(
    (await list(`?limit=2&cursor=${first.pagination.cursor}`)).data.map(({ hostname }) => hostname),
    ['web-3'],
  );
  const all = await list('');
  t.deepEqual(all.pagination, { page: 1, limit: 100, total: 3 } as object);
  t.like(all.data[0], { siteName: 'Main', isPinned: false, isExcluded: false, addedBy: 'dynamic_rule' });
});

test('a preview counts what a filter matches and would change, and is audited only for an unsaved filter', async (t) => {
  const { token, id, orgId, siteId, secondSiteId } = await place(platform, 'web-1', 'web-2', 'db-1', 'db-2');
  const group = (await dynamic(token, web)).body.data.id;
  await call('POST', `/${group}/devices/${id('db-1')}/pin`, token, {});
  await call('POST', `/${group}/devices/${id('web-2')}/pin`, token, { mode: 'exclude' });
  interface Preview {
    data: { totalCount: number; devices: { hostname: string }[]; evaluatedAt: string; diff: object };
  }
  const preview = async (body?: object) => (await call<Preview>('POST', `/${group}/preview`, token, body)).body;
  const stored = await preview();
  t.like(stored.data, { totalCount: 2, diff: { toAdd: 0, toRemove: 0, pinned: 1, excluded: 1 } });
  t.deepEqual(Object.keys(stored.data.devices[0] ?? {}).sort(), [
    ...['displayName', 'hostname', 'id', 'lastSeenAt', 'osType', 'status'],
  ]);
  const edited = await preview({ filter: where(['hostname', 'contains', 'db']), limit: 1 });
  t.like(edited.data, { totalCount: 2, diff: { toAdd: 1, toRemove: 1, pinned: 1, excluded: 1 } });
  t.deepEqual(
    edited.data.devices.map((device) => device.hostname),
    ['db-1'],
  );
  t.deepEqual(await hosts(token, group), ['db-1', 'web-1'], 'a preview changes nothing');
  t.is((await preview({ filter: where(['groupId', 'equals', group]) })).error.code, 'FILTER_RECURSION');
  t.is((await preview({ filter: where(['hostname', 'matches', '(a+)+$']) })).error?.code, 'VALIDATION_ERROR');
  const audits = await platform.audits({ orgId, action: 'device_group.preview' });
  t.deepEqual(
    audits.map(({ resource_id, details }) => [resource_id, details]),
    [[group, { totalCount: 2, limit: 1 }]],
  );
  await patchDevice(token, id('db-2'), { siteId: secondSiteId });
  const chosen = (await fixed(token, [id('web-1')], { siteId })).body.data.id;
  const other = await call<Preview>('POST', `/${chosen}/preview`, token, {
    filter: where(['hostname', 'contains', 'db']),
  });
  t.like(other.body.data, { totalCount: 1, diff: { toAdd: 1, toRemove: 1 } });
});

test('the log is filtered, newest first, in pages and with a cursor, and survives group and device', async (t) => {
  const { token, id, orgId } = await place(platform, 'a', 'b');
  const group = (await fixed(token, [id('a'), id('b')], { name: 'Kept' })).body.data.id;
  await call('DELETE', `/${group}/devices/${id('a')}`, token);
  await add(token, group, [id('a')]);
  interface Log {
    data: { action: string; reason: string; hostname: string; groupName: string; actorType: string }[];
    pagination: { cursor: string };
  }
  const read = async (query: string) => (await call<Log>('GET', `/${group}/membership-log${query}`, token)).body;
  const all = await read('');
  t.deepEqual(
    all.data.slice(0, 2).map(({ action, reason, hostname }) => [action, reason, hostname]),
    [
      ['added', 'manual', 'a'],
      ['removed', 'manual', 'a'],
    ],
  );
  t.like(all.data[0], { groupName: 'Kept', actorType: 'user' });
  t.is(all.data.length, 4);
  t.is((await read(`?deviceId=${id('b')}`)).data.length, 1);
  t.is((await read('?action=removed')).data.length, 1);
  t.is((await read('?reason=group_created')).data.length, 2);
  t.is((await read(`?from=${new Date(Date.now() + 60_000).toISOString()}`)).data.length, 0);
  t.is((await read(`?to=${new Date(Date.now() + 60_000).toISOString()}&page=2&limit=3`)).data.length, 1);
  const first = await read('?limit=3&cursor=');
  t.is((await read(`?limit=3&cursor=${first.pagination.cursor}`)).data.length, 1);
  await call('DELETE', `/${group}`, token);
  const [kept] = await platform.sql<{ n: number }>(
    'select count(*)::int as n from device_group_membership_log where group_id = $1 and org_id = $2',
    [group, orgId],
  );
  t.is(kept?.n, 6);
  const { app } = platform.platform.tasks.work.database;
  await t.throwsAsync(app.query('delete from device_group_membership_log'), { message: /permission denied/ });
});

test('devices show their groups, and their list can be narrowed by groups that the caller sees', async (t) => {
  const { token, id, partner } = await place(platform, 'web-1', 'db-1');
  const group = (await dynamic(token, web, { name: 'Web' })).body.data.id;
  const chosen = (await fixed(token, [id('web-1')], { name: 'Chosen' })).body.data.id;
  const detail = await platform.call<{ data: { groups: object[] } }>('GET', `/devices/${id('web-1')}`, { token });
  t.deepEqual(detail.body.data.groups, [
    { id: chosen, name: 'Chosen', type: 'static', isPinned: false },
    { id: group, name: 'Web', type: 'dynamic', isPinned: false },
  ]);
  const list = (as: string, query: string) =>
    platform.call<{ devices: { hostname: string }[] }>('GET', `/devices?${query}`, { token: as });
  const names = async (query: string) => (await list(token, query)).body.devices.map((device) => device.hostname);
  t.deepEqual(await names(`groupIds=${group},${chosen}`), ['web-1']);
  t.deepEqual(await names(`groupIds=${chosen}&search=db`), []);
  t.is((await list(token, `groupIds=${randomUUID()}`)).status, 404);
  const other = await tenant(platform);
  t.is((await list(other.partner.token, `groupIds=${group}`)).status, 404);
  t.is((await list(partner.token, `groupIds=${group}`)).status, 200);
  const conditions = where(['groupId', 'in', [group]], ['hostname', 'contains', 'w']);
  const found = await platform.call<{ data: { devices: { hostname: string }[] } }>('POST', '/filters/preview', {
    token,
    body: { conditions },
  });
  t.deepEqual(
    found.body.data.devices.map((device) => device.hostname),
    ['web-1'],
  );
});

test('the database rejects a membership across organizations', async (t) => {
  const [mine, theirs] = [await place(platform, 'a'), await place(platform)];
  const group = (await fixed(theirs.token)).body.data.id;
  for (const orgId of [mine.orgId, theirs.orgId]) {
    await t.throwsAsync(
      platform.sql(
        `insert into device_group_members (group_id, device_id, org_id, added_by) values ($1, $2, $3, 'manual')`,
        [group, mine.id('a'), orgId],
      ),
      { message: /foreign key/ },
    );
  }
});

test('a site cannot be deleted while a group is bound to it', async (t) => {
  const { token, partner, secondSiteId } = await place(platform);
  await fixed(token, [], { siteId: secondSiteId });
  const { status, body } = await platform.call<{ error: { code: string } }>('DELETE', `/orgs/sites/${secondSiteId}`, {
    token: partner.token,
  });
  t.deepEqual([status, body.error.code], [409, 'IN_USE']);
});
