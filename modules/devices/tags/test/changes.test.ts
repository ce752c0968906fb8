/** Changing tags of many devices: adding, removing, renaming. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { orgUser } from '#test';
import { call, counts, hosts, place, platform, stored } from './ground.ts';

test('tags are added to many devices and removed, each audited by itself, and one failure does not stop others', async (t) => {
  const full = Array.from({ length: 50 }, (_, n) => `tag-${n}`);
  const { token, id, orgId, viewer } = await place({ a: ['old'], b: ['new'], c: full, gone: [] });
  await call('DELETE', `/devices/${id('gone')}`, token);
  const order = { deviceIds: ['a', 'b', 'c', 'gone'].map(id), add: [' NEW '], remove: ['Old'] };
  const { status, body } = await call<{ failed: { deviceId: string; code: string }[] }>(
    'POST',
    '/tags/bulk',
    token,
    order,
  );
  t.is(status, 200);
  t.like(body, { changed: 1, unchanged: 1 });
  t.deepEqual(
    body.failed.map(({ deviceId, code }) => `${deviceId} ${code}`).sort(),
    [`${id('c')} TAG_LIMIT`, `${id('gone')} DECOMMISSIONED`].sort(),
  );
  t.deepEqual(await stored(id('a')), ['new']);
  const audits = (await platform.audits({ orgId, action: 'device.update' })).filter(
    ({ details }) => details.source === 'tags.bulk',
  );
  t.deepEqual(
    audits.map(({ resource_id, details }) => [resource_id, details]),
    [[id('a'), { changedFields: ['tags'], before: { tags: ['old'] }, after: { tags: ['new'] }, source: 'tags.bulk' }]],
  );
  const filter = { operator: 'AND', conditions: [{ field: 'tags', operator: 'hasAny', value: ['NEW'] }] };
  t.like((await call('POST', '/tags/bulk', token, { filter, add: ['found'] })).body, { changed: 2 });
  t.deepEqual(await hosts(token, 'tag=found'), ['a', 'b']);
  const bad = async (more: object) => {
    const answer = await call('POST', '/tags/bulk', token, { deviceIds: [id('a')], ...more });
    return [answer.status, answer.body.error.details[0]?.path];
  };
  t.deepEqual(await bad({}), [400, 'add']);
  t.deepEqual(await bad({ add: ['x'], remove: [' X'] }), [400, 'remove']);
  t.deepEqual(await bad({ add: ['x', 'a,b'] }), [400, 'add.1']);
  t.deepEqual(await bad({ add: Array.from({ length: 21 }, (_, n) => `t${n}`) }), [400, 'add']);
  t.is((await bad({ add: ['x'], filter }))[0], 400);
  t.is((await bad({ deviceIds: Array.from({ length: 501 }, () => randomUUID()), add: ['x'] }))[0], 400);
  t.is((await call('POST', '/tags/bulk', viewer.token, { deviceIds: [id('a')], add: ['x'] })).status, 403);
});

test.serial(
  'a tag is renamed on every device and in the groups that follow it, which lose no members meanwhile',
  async (t) => {
    const { token, id, orgId } = await place({ a: ['old', 'x'], b: ['old', 'new'], c: ['new'], d: ['x'] });
    const group = async (name: string, operator: string, value: string[]) => {
      const filter = { operator: 'OR', conditions: [{ field: 'tags', operator, value }] };
      const made = await call<{ data: { id: string } }>('POST', '/groups', token, { name, type: 'dynamic', filter });
      return made.body.data.id;
    };
    const [any, all, other] = [
      await group('Any', 'hasAny', [' OLD', 'y']),
      await group('All', 'hasAll', ['Old', 'X']),
      await group('Other', 'hasAny', ['x']),
    ];
    const { status, body } = await call<{ affected: number; references: object[] }>('POST', '/tags/rename', token, {
      from: ' Old',
      to: 'NEW',
    });
    t.is(status, 202);
    t.is(body.affected, 2);
    t.deepEqual(
      body.references,
      [
        { type: 'device_group', id: any, name: 'Any' },
        { type: 'device_group', id: all, name: 'All' },
      ].sort((one, two) => (one.id < two.id ? -1 : 1)),
    );
    await platform.runJobs();
    t.deepEqual(
      [await stored(id('a')), await stored(id('b')), await stored(id('c'))],
      [['new', 'x'], ['new'], ['new']],
    );
    const members = async (groupId: string) =>
      (await call<{ data: { hostname: string }[] }>('GET', `/groups/${groupId}/devices`, token)).body.data.map(
        ({ hostname }) => hostname,
      );
    t.deepEqual(await members(any), ['a', 'b', 'c'], 'merged: who had the other tag is found, too');
    t.deepEqual(await members(all), ['a']);
    t.deepEqual(await members(other), ['a', 'd']);
    const removed = await platform.sql(
      `select 1 from device_group_membership_log where org_id = $1 and action = 'removed'`,
      [orgId],
    );
    t.deepEqual(removed, []);
    const [row] = await platform.sql<{ filter: object }>('select filter from device_groups where id = $1', [all]);
    t.deepEqual(row?.filter, {
      operator: 'OR',
      conditions: [{ field: 'tags', operator: 'hasAll', value: ['new', 'x'] }],
    });
    const [audit] = await platform.audits({ orgId, action: 'device.tags.rename' });
    t.like(audit?.details, { from: 'old', to: 'new', affected: 2 });
    const updates = await platform.audits({ orgId, action: 'device_group.update' });
    t.deepEqual(updates.map(({ resource_id }) => resource_id).sort(), [any, all].sort());
    const events = await platform.sql<{ data: object }>(
      `select data from events where name = 'tags.renamed' and org_id = $1`,
      [orgId],
    );
    t.deepEqual(
      events.map(({ data }) => data),
      [{ from: 'old', to: 'new', devices: 2 }],
    );
    t.is((await call('POST', '/tags/rename', token, { from: 'old', to: 'new' })).status, 404);
  },
);

test.serial('an invalid rename is an error and changes nothing', async (t) => {
  const { token, partner, orgId, viewer, id } = await place({ a: ['old'] });
  const refused = async (as: string, body: object) => {
    const answer = await call('POST', '/tags/rename', as, body);
    return [answer.status, answer.body.error.code, answer.body.error.details[0]?.path];
  };
  t.deepEqual(await refused(token, { from: 'old', to: ' OLD ' }), [400, 'VALIDATION_ERROR', 'to']);
  t.deepEqual(await refused(token, { from: 'old', to: 'a,b' }), [400, 'VALIDATION_ERROR', 'to']);
  t.deepEqual(await refused(token, { from: 'sys:x', to: 'y' }), [400, 'VALIDATION_ERROR', 'from']);
  t.deepEqual((await refused(token, { from: 'none', to: 'y' })).slice(0, 2), [404, 'NOT_FOUND']);
  t.deepEqual((await refused(partner.token, { from: 'old', to: 'y' })).slice(0, 2), [400, 'ORG_REQUIRED']);
  t.is((await refused(viewer.token, { from: 'old', to: 'y' }))[0], 403);
  const filter = { operator: 'AND', conditions: [{ field: 'tags', operator: 'hasAny', value: ['old'] }] };
  const made = await call<{ data: { id: string } }>('POST', '/groups', token, { name: 'G', type: 'dynamic', filter });
  await orgUser(platform, { orgId, deviceGroupIds: [made.body.data.id] });
  const technician = await orgUser(platform, { orgId, roleId: '00000000-0000-4000-8000-000000000003' });
  t.is(
    (await refused(technician.token, { from: 'old', to: 'y' }))[0],
    403,
    'people are limited to a group that names it',
  );
  t.is((await call('POST', '/tags/rename', partner.token, { orgId, from: 'old', to: 'y' })).status, 202);
  await platform.runJobs();
  t.deepEqual(await stored(id('a')), ['y']);
});

test.serial(
  'a rename requires a caller who reaches everything that a group with the tag in its filter can contain',
  async (t) => {
    const { token, orgId, siteId, id } = await place({ a: ['old'] });
    const filter = { operator: 'AND', conditions: [{ field: 'tags', operator: 'hasAny', value: ['old'] }] };
    const path = await call<{ id: string }>('POST', '/orgs/sites', token, { orgId, name: 'Elsewhere' });
    const group = { name: 'G', type: 'dynamic', siteId: path.body.id, filter };
    t.is((await call('POST', '/groups', token, group)).status, 201);
    const limited = await orgUser(platform, { orgId, siteIds: [siteId] });
    const refused = await call('POST', '/tags/rename', limited.token, { from: 'old', to: 'new' });
    t.deepEqual([refused.status, refused.body.error.code], [403, 'TARGET_OUT_OF_SCOPE']);
    await platform.runJobs();
    t.deepEqual(await stored(id('a')), ['old']);
  },
);

test.serial('thousands of devices with a tag are renamed in one run, and a second run changes nothing', async (t) => {
  const { token, orgId, siteId } = await place({});
  await platform.sql(
    `insert into devices (org_id, site_id, hostname, os_type, lifecycle, tags)
     select $1, $2, 'host-' || n, 'linux', 'active', case when n % 3 = 0 then '{new,old}'::text[] else '{old}' end
     from generate_series(1, 1201) n`,
    [orgId, siteId],
  );
  t.like((await call('POST', '/tags/rename', token, { from: 'old', to: 'new' })).body, { affected: 1201 });
  await platform.runJobs();
  t.deepEqual(await counts(token), ['new 1201']);
  const rows = await platform.sql<{ tags: string[]; n: number }>(
    'select tags, count(*)::int as n from devices where org_id = $1 group by tags',
    [orgId],
  );
  t.deepEqual(rows, [{ tags: ['new'], n: 1201 }]);
});
