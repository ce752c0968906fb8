/** Groups: created, read, changed, moved in the tree, and deleted. */
import test from 'ava';
import { organization, partnerUser, ROLES, startTestPlatform, systemUser } from '#test';
import { caller, either, type Group, place, where } from './arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const { call, code, create, dynamic, fixed, hosts, log, patch, read } = caller(platform);

const LINUX = where(['osType', 'equals', 'linux']);
const web = (text = 'web') => where(['hostname', 'startsWith', text]);

test('a new dynamic group has its members in the response, and each step is audited', async (t) => {
  const { token, orgId } = await place(platform, 'web-1', 'web-2', 'db-1');
  const made = await dynamic(token, web(), { name: ' Web  servers ', description: 'in front' });
  t.is(made.status, 201);
  t.like(made.body.data, {
    orgId,
    name: 'Web  servers',
    type: 'dynamic',
    siteId: null,
    parentId: null,
    deviceCount: 2,
    evaluationMode: 'event',
    evaluationStatus: 'ready',
    filterFields: ['hostname'],
    isAccessRestricting: false,
  });
  t.deepEqual(made.body.evaluation, { added: 2 });
  const { id } = made.body.data;
  t.deepEqual(await hosts(token, id), ['web-1', 'web-2']);
  const changed = await patch(token, id, { filter: where(['hostname', 'contains', 'B-1']), name: 'Ones' });
  t.deepEqual([changed.status, changed.body.evaluation], [200, { added: 1, removed: 1 }]);
  t.deepEqual(await hosts(token, id), ['db-1', 'web-1']);
  t.like(await read(token, id), { name: 'Ones', deviceCount: 2 });
  t.deepEqual((await call('DELETE', `/${id}`, token)).body, { success: true } as object);
  t.is((await call('GET', `/${id}`, token)).status, 404);
  t.deepEqual(await log(id), [
    'added filter_match web-1',
    'added filter_match web-2',
    'added filter_match db-1',
    'removed filter_unmatch web-2',
    'removed group_deleted db-1',
    'removed group_deleted web-1',
  ]);
  const audits = (await platform.audits({ orgId })).filter((row) => row.resource_id === id);
  t.deepEqual(
    audits.map(({ action, resource_type }) => [action, resource_type]),
    [
      ['device_group.create', 'device_group'],
      ['device_group.update', 'device_group'],
      ['device_group.delete', 'device_group'],
    ],
  );
  t.like(audits[1]?.details, { changedFields: ['filter', 'name'], before: { filter: web() } });
  t.deepEqual(audits[2]?.details, { deviceCount: 2 });
});

test.serial('a filter is copied from a saved one, and does not follow its later changes', async (t) => {
  const { token, partner, partnerId } = await place(platform, 'web-1', 'db-1');
  const saved = await platform.call<{ id: string }>('POST', '/filters', {
    token,
    body: { name: 'Web', conditions: web() },
  });
  const made = await create(token, { type: 'dynamic', filterId: saved.body.id });
  const { id } = made.body.data;
  t.like(made.body.data, { filterId: saved.body.id, deviceCount: 1 });
  t.deepEqual(made.body.data.filter, web());
  await platform.call('PATCH', `/filters/${saved.body.id}`, { token, body: { conditions: web('db') } });
  await platform.runJobs();
  t.deepEqual(await hosts(token, id), ['web-1']);
  const other = await organization(platform, partnerId);
  const foreign = await create(partner.token, { orgId: other.orgId, type: 'dynamic', filterId: saved.body.id });
  t.is(foreign.status, 400);
});

test('fields of the other type of group are errors, and a filter is checked before a group is created', async (t) => {
  const { token, id, orgId } = await place(platform, 'a');
  const refusal = async (body: object) => {
    const { status, body: answer } = await create(token, body);
    return [status, answer.error.code, answer.error.details[0]?.path];
  };
  t.deepEqual(await refusal({ type: 'dynamic' }), [400, 'VALIDATION_ERROR', 'filter']);
  t.deepEqual(await refusal({ type: 'static', filter: LINUX }), [400, 'VALIDATION_ERROR', 'filter']);
  t.deepEqual(await refusal({ type: 'dynamic', filter: LINUX, deviceIds: [id('a')] }), [
    400,
    'VALIDATION_ERROR',
    'deviceIds',
  ]);
  t.deepEqual(await refusal({ type: 'dynamic', filter: { operator: 'AND', conditions: [] } }), [
    400,
    'VALIDATION_ERROR',
    'filter.conditions',
  ]);
  t.deepEqual(await refusal({ type: 'dynamic', filter: where(['colour', 'equals', 'x']) }), [
    400,
    'VALIDATION_ERROR',
    'filter.conditions.0.field',
  ]);
  t.is((await refusal({ type: 'dynamic', filter: where(['groupId', 'equals', id('a')]) }))[1], 'FILTER_RECURSION');
  const nested = (levels: number): object => (levels === 1 ? LINUX : either(nested(levels - 1)));
  t.is((await create(token, { type: 'dynamic', filter: nested(5) })).status, 201);
  t.deepEqual(await refusal({ type: 'dynamic', filter: nested(6) }), [400, 'VALIDATION_ERROR', 'filter']);
  const many = (n: number) =>
    where(...Array.from({ length: n }, () => ['osType', 'equals', 'linux'] as [string, string, string]));
  t.is((await create(token, { type: 'dynamic', filter: many(50) })).status, 201);
  t.deepEqual(await refusal({ type: 'dynamic', filter: many(51) }), [400, 'VALIDATION_ERROR', 'filter']);
  const [count] = await platform.sql<{ n: number }>('select count(*)::int as n from device_groups where org_id = $1', [
    orgId,
  ]);
  t.is(count?.n, 2);
  const made = await fixed(token, [id('a')]);
  t.deepEqual(code(await patch(token, made.body.data.id, { filter: LINUX })), [400, 'STATIC_GROUP']);
  t.deepEqual(code(await patch(token, made.body.data.id, { type: 'dynamic' })), [400, 'VALIDATION_ERROR']);
  t.is((await patch(token, made.body.data.id, {})).body.error.message, 'No updates provided');
  t.is((await patch(token, made.body.data.id, { confirm: true })).body.error.code, 'NO_UPDATES');
});

test('a name is unique below a parent, regardless of case, also for concurrent requests', async (t) => {
  const { token } = await place(platform);
  const root = (await create(token, { type: 'static', name: 'Servers' })).body.data.id;
  t.deepEqual(code(await create(token, { type: 'static', name: 'SERVERS' })), [409, 'NAME_TAKEN']);
  t.is((await create(token, { type: 'static', name: 'servers', parentId: root })).status, 201);
  const second = (await create(token, { type: 'static', name: 'Others' })).body.data.id;
  t.deepEqual(code(await patch(token, second, { name: 'sErvers' })), [409, 'NAME_TAKEN']);
  const both = await Promise.all([1, 2, 3].map(() => create(token, { type: 'static', name: 'Once' })));
  t.deepEqual(both.map(({ status }) => status).sort(), [201, 409, 409]);
});

test('the tree of groups has at most five levels and no cycle, also with concurrent requests', async (t) => {
  const { token, orgId } = await place(platform);
  const below = async (parentId: string | null) =>
    (await create(token, { type: 'static', parentId })).body.data?.id ?? '';
  const chain = [await below(null)];
  for (let level = 2; level <= 5; level += 1) chain.push(await below(chain.at(-1) ?? null));
  t.deepEqual(code(await create(token, { type: 'static', parentId: chain[4] ?? '' })), [422, 'GROUP_TREE_TOO_DEEP']);
  t.deepEqual(code(await patch(token, chain[0] ?? '', { parentId: chain[2] ?? '' })), [422, 'GROUP_TREE_CYCLE']);
  t.deepEqual(code(await patch(token, chain[0] ?? '', { parentId: chain[0] ?? '' })), [422, 'GROUP_TREE_CYCLE']);
  const other = await below(null);
  t.deepEqual(code(await patch(token, chain[0] ?? '', { parentId: other })), [422, 'GROUP_TREE_TOO_DEEP']);
  t.is((await patch(token, chain[3] ?? '', { parentId: other })).status, 200);
  const detail = (await read(token, chain[4] ?? '')) as Group & { ancestors: { id: string }[] };
  t.deepEqual(
    detail.ancestors.map((group) => group.id),
    [other, chain[3]],
  );
  t.deepEqual(code(await call('DELETE', `/${other}?force=true`, token)), [409, 'IN_USE']);
  const [a, b] = [await below(null), await below(null)];
  const at = await Promise.all([patch(token, a, { parentId: b }), patch(token, b, { parentId: a })]);
  t.deepEqual(at.map(({ status }) => status).sort(), [200, 422]);
  const listed = async (query: string) =>
    (await call<{ data: Group[] }>('GET', `?orgId=${orgId}&${query}`, token)).body.data.map((group) => group.id);
  t.deepEqual(await listed(`parentId=${other}`), [chain[3]]);
  t.true((await listed('parentId=root')).includes(other));
  t.false((await listed('parentId=root')).includes(chain[3] ?? ''));
});

test('the list is filtered, paged by name, and includes members on request', async (t) => {
  const { token, siteId, id, orgId } = await place(platform, 'a', 'b');
  for (const name of ['zulu', 'Alpha', 'mike']) await fixed(token, [id('b'), id('a')], { name });
  await dynamic(token, LINUX, { name: 'Linux', siteId, description: 'all of them' });
  const list = async (query: string) =>
    (await call<{ data: (Group & { deviceIds?: string[] })[]; pagination: { cursor?: string } }>('GET', query, token))
      .body;
  const names = async (query: string) => (await list(query)).data.map((group) => group.name);
  t.deepEqual(await names(''), ['Alpha', 'Linux', 'mike', 'zulu']);
  t.deepEqual(await names('?type=dynamic'), ['Linux']);
  t.deepEqual(await names(`?siteId=${siteId}`), ['Linux']);
  t.deepEqual(await names('?search=OF%20them'), ['Linux']);
  t.deepEqual(await names(`?orgId=${orgId}&page=2&limit=3`), ['zulu']);
  const first = await list('?limit=3&cursor=');
  t.deepEqual(await names(`?limit=3&cursor=${first.pagination.cursor}`), ['zulu']);
  const [alpha] = (await list('?includeMemberships=true&search=alpha')).data;
  t.deepEqual(alpha?.deviceIds, [id('a'), id('b')].sort());
  t.is((await list('')).data[0]?.deviceIds, undefined);
});

test('a static group copies the current members of another', async (t) => {
  const { token, secondSiteId, siteId } = await place(platform, 'web-1', 'web-2', 'db-1');
  const source = (await dynamic(token, web())).body.data.id;
  const copy = await create(token, { type: 'static', copyFrom: source });
  t.is(copy.body.evaluation.added, 2);
  await patch(token, source, { filter: web('db') });
  t.deepEqual(await hosts(token, copy.body.data.id), ['web-1', 'web-2']);
  t.deepEqual(await log(copy.body.data.id), ['added group_created web-1', 'added group_created web-2']);
  t.is((await create(token, { type: 'static', copyFrom: source, siteId: secondSiteId })).body.evaluation.added, 0);
  t.is((await create(token, { type: 'static', copyFrom: source, siteId })).body.evaluation.added, 1);
  const theirs = await place(platform);
  t.is((await create(theirs.token, { type: 'static', copyFrom: source })).status, 404);
});

test('another tenant finds nothing, and an organization, site or parent out of reach is an error', async (t) => {
  const [mine, theirs] = [await place(platform, 'web-1'), await place(platform)];
  const { id } = (await dynamic(mine.token, LINUX)).body.data;
  const outsider = theirs.partner.token;
  for (const [method, path, body] of [
    ['GET', '', undefined],
    ['PATCH', '', { name: 'x' }],
    ['DELETE', '', undefined],
    ['GET', '/devices', undefined],
    ['POST', '/preview', {}],
    ['GET', '/membership-log', undefined],
    ['POST', `/devices/${mine.id('web-1')}/pin`, {}],
    ['DELETE', `/devices/${mine.id('web-1')}/pin`, undefined],
  ] as const) {
    t.is((await call(method, `/${id}${path}`, outsider, body)).status, 404, `${method} ${path}`);
  }
  t.deepEqual(code(await create(outsider, { type: 'static' })), [400, 'ORG_REQUIRED']);
  t.deepEqual(code(await create(outsider, { type: 'static', orgId: mine.orgId })), [403, 'ORG_ACCESS_DENIED']);
  t.deepEqual(code(await create(theirs.token, { type: 'static', orgId: mine.orgId })), [403, 'ORG_ACCESS_DENIED']);
  t.is((await create(theirs.token, { type: 'static', siteId: mine.siteId })).status, 404);
  t.is((await create(theirs.token, { type: 'static', parentId: id })).status, 404);
  t.is((await call('GET', `?orgId=${mine.orgId}`, outsider)).status, 404);
  t.is((await call('GET', `?orgId=${mine.orgId}`, theirs.token)).status, 403);
  t.deepEqual((await call<{ data: Group[] }>('GET', '', outsider)).body.data, []);
  const none = await partnerUser(platform, {
    partnerId: mine.partnerId,
    roleId: mine.partnerRoleId,
    orgAccess: 'none',
  });
  t.is((await call('GET', `/${id}`, none.token)).status, 404);
  const other = await organization(platform, mine.partnerId);
  t.is((await create(mine.partner.token, { type: 'static', orgId: other.orgId, parentId: id })).status, 404);
  t.is((await create(mine.partner.token, { type: 'static', orgId: other.orgId, siteId: mine.siteId })).status, 400);
  const admin = await systemUser(platform);
  t.is((await call('GET', `/${id}`, admin.token)).status, 200);
  t.is((await dynamic(admin.token, web(), { orgId: mine.orgId })).body.evaluation.added, 1);
});

test('each operation requires its permission', async (t) => {
  const { token, viewer, limited } = await place(platform, 'a');
  const { id } = (await dynamic(token, LINUX)).body.data;
  t.is((await create(viewer.token, { type: 'static' })).status, 403);
  t.is((await patch(viewer.token, id, { name: 'x' })).status, 403);
  t.is((await call('DELETE', `/${id}`, viewer.token)).status, 403);
  t.is((await call('GET', `/${id}`, viewer.token)).status, 200);
  t.is((await call('POST', `/${id}/preview`, viewer.token)).status, 200);
  const technician = await limited({ roleId: ROLES.technician });
  t.is((await patch(technician.token, id, { name: 'x' })).status, 200);
});

test.serial('in an organization of over twenty thousand devices a job evaluates', async (t) => {
  const { token, orgId, siteId } = await place(platform);
  await platform.sql(
    `with made as (
       insert into devices (org_id, site_id, hostname, os_type, lifecycle)
       select $1, $2, 'host-' || n, case when n <= 3 then 'linux' else 'windows' end, 'active'
       from generate_series(1, 20001) n returning id, org_id)
     insert into device_state (device_id, org_id) select id, org_id from made`,
    [orgId, siteId],
  );
  const made = await dynamic(token, LINUX);
  t.is(made.status, 202);
  t.like(made.body, { data: { evaluationStatus: 'evaluating', deviceCount: 0 }, evaluation: { added: 0 } });
  await platform.runJobs();
  t.like(await read(token, made.body.data.id), { evaluationStatus: 'ready', deviceCount: 3 });
  const changed = await patch(token, made.body.data.id, { filter: where(['hostname', 'equals', 'host-1']) });
  t.is(changed.status, 202);
  await platform.runJobs();
  t.is((await read(token, made.body.data.id)).deviceCount, 1, 'asked for, so nothing is held back');
});
