/** Users limited to groups or sites: what they see, what they can change, and who can change what they see. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { apiKey, type ErrorBody, ROLES, startTestPlatform } from '#test';
import { caller, type Group, place, where } from './arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const { call, code, create, dynamic, fixed, hosts, patch, patchDevice, read } = caller(platform);

const ask = <B = object>(method: string, path: string, token: string, body?: unknown) =>
  platform.call<B & ErrorBody>(method, path, { token, ...(body === undefined ? {} : { body }) });
const devices = async (token: string, query = '') =>
  (await ask<{ devices: { hostname: string }[] }>('GET', `/devices${query}`, token)).body.devices.map(
    (device) => device.hostname,
  );
const tagged = (tag: string) => where(['tags', 'hasAny', [tag]]);

test('a caller limited to groups sees exactly the devices in them, everywhere', async (t) => {
  const { token, id, limited } = await place(platform, 'in-1', 'in-2', 'out');
  const group = (await fixed(token, [id('in-1'), id('in-2')])).body.data.id;
  const other = (await fixed(token, [id('out')])).body.data.id;
  const person = await limited({ deviceGroupIds: [group] });
  t.deepEqual(await devices(person.token), ['in-1', 'in-2']);
  t.deepEqual(await devices(person.token, '?includeTotal=true'), ['in-1', 'in-2']);
  t.deepEqual(await devices(person.token, `?groupIds=${group}&search=in-2`), ['in-2']);
  t.is((await ask('GET', `/devices?groupIds=${other}`, person.token)).status, 404);
  for (const [term, wanted] of [
    ['in-', ['in-1', 'in-2']],
    ['n-2', ['in-2']],
    ['out', []],
  ] as const) {
    const { body } = await ask<{ results: { type: string; title: string }[] }>(
      'GET',
      `/search?q=${term}`,
      person.token,
    );
    t.deepEqual(
      body.results.filter(({ type }) => type === 'devices').map(({ title }) => title),
      [...wanted],
    );
  }
  const body = { conditions: where(['osType', 'equals', 'linux']) };
  const found = await ask<{ data: { totalCount: number } }>('POST', '/filters/preview', person.token, body);
  t.is(found.body.data.totalCount, 2);
  const order = { type: 'lock' };
  for (const [device, status, made] of [
    ['in-1', 200, 201],
    ['out', 404, 404],
  ] as const) {
    const path = `/devices/${id(device)}`;
    for (const below of ['', '/software', '/services', '/commands']) {
      t.is((await ask('GET', path + below, person.token)).status, status, path + below);
    }
    t.is((await ask('POST', `${path}/commands`, person.token, order)).status, made);
    t.is((await ask('PATCH', path, person.token, { displayName: 'x' })).status, status);
    t.is((await ask('POST', '/filters/explain', person.token, { ...body, deviceId: id(device) })).status, status);
    t.is((await ask('DELETE', path, person.token)).status, status);
  }
  t.deepEqual(await devices(person.token), ['in-2']);
  const commands = await platform.sql<{ id: string }>('select id from device_commands where device_id = $1', [
    id('out'),
  ]);
  t.deepEqual(commands, []);
  t.is((await ask('POST', `/devices/${id('in-1')}/restore`, person.token)).status, 404, 'it has left its groups');
});

test('limits to groups and to sites combine, and deleted groups show nothing', async (t) => {
  const { token, id, limited, siteId, secondSiteId } = await place(platform, 'here', 'there', 'neither');
  await patchDevice(token, id('there'), { siteId: secondSiteId });
  const group = (await fixed(token, [id('here'), id('there')])).body.data.id;
  const both = await limited({ deviceGroupIds: [group], siteIds: [secondSiteId] });
  t.deepEqual(await devices(both.token), ['there']);
  t.is((await ask('GET', `/devices/${id('here')}`, both.token)).status, 404);
  t.is((await read(both.token, group)).deviceCount, 1);
  t.deepEqual(await hosts(both.token, group), ['there']);
  const lost = await limited({ deviceGroupIds: [randomUUID()] });
  t.deepEqual(await devices(lost.token), []);
  const wide = await limited({ deviceGroupIds: [group, randomUUID()], siteIds: [siteId, secondSiteId] });
  t.deepEqual(await devices(wide.token), ['here', 'there']);
});

test.serial('what a limited caller sees follows the filter of the group, exclusions included', async (t) => {
  const { token, id, limited } = await place(platform, 'a', 'b');
  const group = (await dynamic(token, tagged('mine'))).body.data.id;
  const person = await limited({ deviceGroupIds: [group] });
  t.deepEqual(await devices(person.token), []);
  await patchDevice(token, id('a'), { tags: ['mine'] });
  await patchDevice(token, id('b'), { tags: ['mine'] });
  await platform.runJobs();
  t.deepEqual(await devices(person.token), ['a', 'b']);
  await call('POST', `/${group}/devices/${id('b')}/pin`, token, { mode: 'exclude' });
  t.deepEqual(await devices(person.token), ['a']);
});

test('a caller limited to groups sees these groups, with the names above them, and can change none as a whole', async (t) => {
  const { token, id, limited } = await place(platform, 'in', 'also', 'out');
  const root = (await fixed(token, [id('out')], { name: 'Root' })).body.data.id;
  const group = (await fixed(token, [id('in')], { name: 'Mine', parentId: root })).body.data.id;
  const more = (await fixed(token, [id('also'), id('out')], { name: 'More' })).body.data.id;
  const person = await limited({ deviceGroupIds: [group] });
  const listed = await call<{ data: Group[] }>('GET', '', person.token);
  t.deepEqual(
    listed.body.data.map(({ name, deviceCount }) => [name, deviceCount]),
    [['Mine', 1]],
  );
  t.deepEqual((await read(person.token, group)).ancestors, [{ id: root, name: 'Root' }]);
  t.is((await call('GET', `/${root}`, person.token)).status, 404);
  t.is((await call('GET', `/${more}/devices`, person.token)).status, 404);
  t.deepEqual(code(await create(person.token, { type: 'static' })), [403, 'TARGET_OUT_OF_SCOPE']);
  t.deepEqual(code(await patch(person.token, group, { name: 'x' })), [403, 'TARGET_OUT_OF_SCOPE']);
  t.deepEqual(code(await call('DELETE', `/${group}?force=true`, person.token)), [403, 'TARGET_OUT_OF_SCOPE']);
  const both = await limited({ deviceGroupIds: [group, more] });
  t.deepEqual((await call('POST', `/${group}/devices`, both.token, { deviceIds: [id('also')] })).body, {
    added: 1,
    skipped: 0,
    total: 2,
  } as object);
  const { status } = await call('POST', `/${group}/devices`, person.token, { deviceIds: [id('out')] });
  t.is(status, 400, 'only devices that they see');
  const detail = await ask<{ data: { groups: { name: string }[] } }>('GET', `/devices/${id('also')}`, person.token);
  t.deepEqual(
    detail.body.data.groups.map(({ name }) => name),
    ['Mine'],
  );
});

test('the log shows limited callers only devices that they see', async (t) => {
  const { token, id, limited, siteId, secondSiteId } = await place(platform, 'here', 'there');
  await patchDevice(token, id('there'), { siteId: secondSiteId });
  const group = (await fixed(token, [id('here'), id('there')])).body.data.id;
  const seen = async (to: object) => {
    const { token: as } = await limited(to);
    const { body } = await call<{ data: { hostname: string }[] }>('GET', `/${group}/membership-log`, as);
    return body.data.map(({ hostname }) => hostname);
  };
  t.deepEqual(await seen({ siteIds: [siteId] }), ['here']);
  const narrow = (await fixed(token, [id('there')])).body.data.id;
  t.deepEqual(await seen({ deviceGroupIds: [group, narrow], siteIds: [secondSiteId] }), ['there']);
  await call('DELETE', `/${group}/devices/${id('there')}`, token);
  t.deepEqual(await seen({ deviceGroupIds: [group] }), ['here'], 'it left, so it is not seen any more');
  t.is((await seen({})).length, 3);
});

test('a caller limited to sites sees counts within them, and creates and changes only groups of these sites', async (t) => {
  const { token, id, limited, siteId, secondSiteId } = await place(platform, 'here', 'there');
  await patchDevice(token, id('there'), { siteId: secondSiteId });
  const everywhere = (await dynamic(token, where(['osType', 'equals', 'linux']))).body.data.id;
  const elsewhere = (await fixed(token, [], { siteId: secondSiteId })).body.data.id;
  const person = await limited({ siteIds: [siteId] });
  const listed = await call<{ data: (Group & { deviceIds: string[] })[] }>(
    'GET',
    '?includeMemberships=true',
    person.token,
  );
  t.deepEqual(
    listed.body.data.map((group) => [group.id, group.deviceCount, group.deviceIds]),
    [[everywhere, 1, [id('here')]]],
  );
  t.is((await call('GET', `/${elsewhere}`, person.token)).status, 404);
  t.is((await call('GET', `?siteId=${secondSiteId}`, person.token)).status, 403);
  t.deepEqual(code(await create(person.token, { type: 'static' })), [403, 'TARGET_OUT_OF_SCOPE']);
  t.is((await create(person.token, { type: 'static', siteId: secondSiteId })).status, 403);
  const own = await dynamic(person.token, where(['osType', 'equals', 'linux']), { siteId });
  t.deepEqual([own.status, own.body.evaluation.added], [201, 1]);
  t.is((await patch(person.token, own.body.data.id, { name: 'Ours' })).status, 200);
  t.deepEqual(code(await patch(person.token, own.body.data.id, { siteId: null })), [403, 'TARGET_OUT_OF_SCOPE']);
  t.deepEqual(code(await patch(person.token, everywhere, { name: 'x' })), [403, 'TARGET_OUT_OF_SCOPE']);
  const preview = await call<{ data: { totalCount: number; diff: object } }>(
    'POST',
    `/${everywhere}/preview`,
    person.token,
    { filter: where(['hostname', 'equals', 'nobody']) },
  );
  t.like(preview.body.data, { totalCount: 0, diff: { toRemove: 1 } });
});

test('changing a group that users are limited to also requires the permission to change users', async (t) => {
  const { token, id, limited, orgId, orgAdmin } = await place(platform, 'a', 'b');
  const followed = (await dynamic(token, tagged('x'))).body.data.id;
  const chosen = (await fixed(token, [id('a')])).body.data.id;
  const technician = (await limited({ roleId: ROLES.technician })).token;
  const attempts = (as: { token: string } | { apiKey: string }) => {
    const send = (method: string, path: string, body?: object) =>
      platform.call<ErrorBody>(method, `/groups${path}`, { ...as, ...(body ? { body } : {}) });
    return Promise.all([
      send('PATCH', `/${followed}`, { description: randomUUID() }),
      send('POST', `/${followed}/devices/${id('b')}/pin`, { mode: 'include' }),
      send('POST', `/${chosen}/devices`, { deviceIds: [id('b')] }),
    ]);
  };
  t.deepEqual(
    (await attempts({ token: technician })).map(({ status }) => status),
    [200, 200, 200],
  );
  await limited({ deviceGroupIds: [followed, chosen] });
  t.true((await read(token, followed)).isAccessRestricting);
  t.like((await read(token, chosen)).usedBy, { users: 1, policies: 0 });
  for (const { status, body } of await attempts({ token: technician })) {
    t.deepEqual([status, body.error.code], [403, 'FORBIDDEN']);
  }
  const removals = [`/${followed}/devices/${id('b')}/pin`, `/${chosen}/devices/${id('b')}`];
  for (const path of removals) t.is((await call('DELETE', path, technician)).status, 403);
  t.deepEqual(
    (await attempts({ token })).map(({ status }) => status),
    [200, 200, 200],
  );
  const key = (scopes: string[]) => apiKey(platform, { orgId, scopes, createdBy: orgAdmin.id });
  const weak = await attempts({ apiKey: await key(['devices:write']) });
  t.deepEqual(
    weak.map(({ status }) => status),
    [403, 403, 403],
  );
  const strong = await attempts({ apiKey: await key(['devices:write', 'users:write']) });
  t.deepEqual(
    strong.map(({ status }) => status),
    [200, 200, 200],
  );
  for (const path of removals) t.is((await call('DELETE', path, token)).status, 200);
});

test('a group that users are limited to is deleted only with force, and then no user sees more than before', async (t) => {
  const { token, id, limited } = await place(platform, 'a', 'b', 'c');
  const group = (await fixed(token, [id('a')])).body.data.id;
  const other = (await fixed(token, [id('b')])).body.data.id;
  const [only, both] = [await limited({ deviceGroupIds: [group] }), await limited({ deviceGroupIds: [group, other] })];
  const refused = await call('DELETE', `/${group}`, token);
  t.deepEqual(code(refused), [409, 'IN_USE']);
  t.like(refused.body.error.details[0], { children: 0, references: { users: 2 } });
  t.is((await call('DELETE', `/${group}?force=true`, token)).status, 200);
  t.deepEqual(await devices(only.token), [], 'a list without any group would mean everything');
  t.deepEqual(await devices(both.token), ['b']);
  const [row] = await platform.sql<{ device_group_ids: string[] }>(
    'select device_group_ids from organization_users where user_id = $1',
    [both.id],
  );
  t.deepEqual(row?.device_group_ids, [other]);
});

test('a site that hides devices from users requires confirmation', async (t) => {
  const { token, id, limited, siteId, secondSiteId } = await place(platform, 'here', 'there');
  await patchDevice(token, id('there'), { siteId: secondSiteId });
  const group = (await fixed(token, [id('here'), id('there')])).body.data.id;
  await limited({ deviceGroupIds: [group] });
  const refused = await patch(token, group, { siteId });
  t.deepEqual(code(refused), [409, 'IN_USE']);
  t.like(refused.body.error.details[0], { devices: 1 });
  t.deepEqual(await hosts(token, group), ['here', 'there']);
  t.deepEqual((await patch(token, group, { siteId, confirm: true })).body.evaluation, { added: 0, removed: 1 });
});

test('users are invited only to existing groups of their own organization', async (t) => {
  const { token } = await place(platform);
  const theirs = await place(platform);
  const group = (await fixed(token)).body.data.id;
  const foreign = (await fixed(theirs.token)).body.data.id;
  const invite = (deviceGroupIds: string[]) =>
    ask('POST', '/users/invite', token, {
      email: `${randomUUID().slice(0, 8)}@example.com`,
      name: 'New',
      roleId: ROLES.viewer,
      deviceGroupIds,
    });
  t.is((await invite([group])).status, 201);
  for (const bad of [foreign, randomUUID()]) {
    const { status, body } = await invite([group, bad]);
    t.deepEqual([status, body.error.details[0]?.path, body.error.details[0]?.message], [400, 'deviceGroupIds', bad]);
  }
});
