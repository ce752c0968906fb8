/** Saved filters: creating, reading, changing and deleting them in each scope. */
import test from 'ava';
import { apiKey, type ErrorBody, organization, orgUser, partnerUser, systemUser, tenant } from '#test';
import { all, call, type Filter, platform, where } from './people.ts';

test.after.always(() => platform.stop());
const conditions = all(where('osType', 'equals', 'linux'));
interface List {
  data: Filter[];
  total: number;
  pagination: { page?: number; limit?: number; total?: number; hasMore?: boolean; cursor?: string | null };
}
const list = async (token: string, query = '') => (await call<List>('GET', query, token)).body;

test('a filter is created, read, changed and deleted, and each change is audited', async (t) => {
  const { orgAdmin, viewer, orgId } = await tenant(platform);
  const made = await call('POST', '', orgAdmin.token, { name: '  Linux  ', conditions });
  t.is(made.status, 201);
  const { id } = made.body;
  t.like(made.body, { orgId, name: 'Linux', description: null, conditions, createdBy: orgAdmin.id });
  t.deepEqual((await call('GET', `/${id}`, viewer.token)).body, made.body);

  const changes = { description: 'All of them', conditions: all(where('osType', 'in', ['linux', 'macos'])) };
  const changed = await call('PATCH', `/${id}`, orgAdmin.token, changes);
  t.like(changed.body, { id, name: 'Linux', ...changes });
  t.is((await call('PATCH', `/${id}`, orgAdmin.token, { description: null })).body.description, null);
  t.is((await call('PATCH', `/${id}`, orgAdmin.token, {})).body.error.message, 'No updates provided');
  t.is((await call('PATCH', `/${id}`, orgAdmin.token, { conditions: all(where('x', 'isNull')) })).status, 400);

  const removed = await call('DELETE', `/${id}`, orgAdmin.token);
  t.like(removed.body, { id, name: 'Linux', orgId });
  t.is((await call('GET', `/${id}`, orgAdmin.token)).body.error.message, 'Filter not found');
  t.is((await call('DELETE', `/${id}`, orgAdmin.token)).status, 404);

  const audits = (await platform.audits({ orgId })).filter(({ action }) => action.startsWith('filter.'));
  t.deepEqual(
    audits.map(({ action, resource_id, details }) => [action, resource_id, details]),
    [
      ['filter.create', id, {}],
      [
        'filter.update',
        id,
        { changedFields: ['description', 'conditions'], before: { description: null, conditions }, after: changes },
      ],
      [
        'filter.update',
        id,
        { changedFields: ['description'], before: { description: changes.description }, after: { description: null } },
      ],
      ['filter.delete', id, {}],
    ],
  );
});

test('name, description and conditions have limits', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const create = async (body: object) => (await call('POST', '', orgAdmin.token, body)).status;
  t.is(await create({ name: 'x'.repeat(200), description: 'y'.repeat(1000), conditions }), 201);
  t.is(await create({ name: 'x'.repeat(201), conditions }), 400);
  t.is(await create({ name: '   ', conditions }), 400);
  t.is(await create({ name: 'x\0', conditions }), 400);
  t.is(await create({ name: 'x', description: 'y'.repeat(1001), conditions }), 400);
  t.is(await create({ name: 'x' }), 400);
  t.is(await create({ conditions }), 400);
  t.is(await create({ name: 'x', conditions: { operator: 'AND', conditions: [] } }), 400);
  t.is(await create({ name: 'x', conditions, shared: true }), 400);
});

test('partner and system callers name the organization; users of an organization create in their own', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  const admin = await systemUser(platform);
  for (const { token } of [mine.partner, admin]) {
    const { status, body } = await call('POST', '', token, { name: 'x', conditions });
    t.deepEqual(
      [status, body.error.code, body.error.message],
      [400, 'ORG_REQUIRED', 'orgId is required for partner scope'],
    );
    t.is((await call('POST', '', token, { name: 'x', conditions, orgId: mine.orgId })).body.orgId, mine.orgId);
  }
  const named = await call('POST', '', mine.orgAdmin.token, { name: 'x', conditions, orgId: theirs.orgId });
  t.is(named.body.orgId, mine.orgId);
  const foreign = await call('POST', '', mine.partner.token, { name: 'x', conditions, orgId: theirs.orgId });
  t.deepEqual([foreign.status, foreign.body.error.message], [403, 'Access to this organization denied']);
  const nowhere = '00000000-0000-4000-8000-000000000000';
  t.is((await call('POST', '', admin.token, { name: 'x', conditions, orgId: nowhere })).status, 404);
});

test('each scope reaches the filters of its organizations, and others are not found', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  const second = await organization(platform, mine.partnerId);
  const create = async (orgId: string, name: string) =>
    (await call('POST', '', mine.partner.token, { name, conditions, orgId })).body.id;
  const first = await create(mine.orgId, 'first');
  const other = await create(second.orgId, 'second');
  const user = (orgAccess: 'selected' | 'none', orgIds: string[]) =>
    partnerUser(platform, { partnerId: mine.partnerId, roleId: mine.partnerRoleId, orgAccess, orgIds });
  const [selected, none] = [await user('selected', [second.orgId]), await user('none', [])];
  const admin = await systemUser(platform);
  const seen = async (token: string) => (await list(token)).data.map((filter) => filter.name);
  t.deepEqual(await seen(mine.partner.token), ['second', 'first']);
  t.deepEqual(await seen(mine.orgAdmin.token), ['first']);
  t.deepEqual(await seen(selected.token), ['second']);
  t.like(await list(none.token), { data: [], total: 0 });
  t.true((await seen(admin.token)).includes('first'));
  for (const token of [selected.token, none.token, theirs.partner.token, theirs.orgAdmin.token]) {
    for (const [method, path, body] of [
      ['GET', `/${first}`, undefined],
      ['PATCH', `/${first}`, { name: 'taken' }],
      ['DELETE', `/${first}`, undefined],
      ['POST', `/${first}/preview`, {}],
    ] as const) {
      t.is((await call(method, path, token, body)).status, 404, `${method} ${path}`);
    }
  }
  t.is((await call('GET', `/${other}`, selected.token)).status, 200);
});

test('reading requires devices:read, writing devices:write, for users and for API keys', async (t) => {
  const { orgAdmin, viewer, orgId } = await tenant(platform);
  const { id } = (await call('POST', '', orgAdmin.token, { name: 'x', conditions })).body;
  t.is((await call('POST', '', viewer.token, { name: 'x', conditions })).status, 403);
  t.is((await call('PATCH', `/${id}`, viewer.token, { name: 'y' })).status, 403);
  t.is((await call('DELETE', `/${id}`, viewer.token)).status, 403);
  t.is((await call('POST', '/preview', viewer.token, { conditions })).status, 200);
  t.is((await call('POST', `/${id}/preview`, viewer.token)).status, 200);
  const key = await apiKey(platform, { orgId, scopes: ['devices:read'], createdBy: orgAdmin.id });
  const asKey = (method: string, path: string, body: object) =>
    platform.call<ErrorBody>(method, `/filters${path}`, { apiKey: key, body });
  t.is((await asKey('POST', '/preview', { conditions })).status, 200);
  t.is((await asKey('POST', '', { name: 'x', conditions })).body.error.code, 'SCOPE_REQUIRED');
  const limited = await orgUser(platform, { orgId, deviceGroupIds: [id] });
  t.is((await call('GET', `/${id}`, limited.token)).status, 200);
});

test('the list is newest first, can be searched by name and description, and has both forms', async (t) => {
  const { orgAdmin } = await tenant(platform);
  for (const [name, description] of [
    ['Linux 100%', 'servers'],
    ['Old', 'Windows_7'],
    ['Laptops', null],
    ['Kiosks', ''],
  ]) {
    await call('POST', '', orgAdmin.token, { name, description, conditions });
  }
  const seen = async (query: string) => (await list(orgAdmin.token, query)).data.map((filter) => filter.name);
  t.deepEqual(await seen(''), ['Kiosks', 'Laptops', 'Old', 'Linux 100%']);
  t.deepEqual(await seen('?search=LINUX'), ['Linux 100%']);
  t.deepEqual(await seen('?search=windows_'), ['Old']);
  t.deepEqual(await seen('?search=0%25'), ['Linux 100%']);
  t.is((await call('GET', '?search=%00', orgAdmin.token)).status, 400);
  t.deepEqual(await seen('?page=2&limit=3'), ['Linux 100%']);
  t.like(await list(orgAdmin.token), { total: 4, pagination: { page: 1, limit: 1000, total: 4 } });
  const walked: string[] = [];
  let cursor: string | null | undefined = '';
  while (typeof cursor === 'string') {
    const page: List = await list(orgAdmin.token, `?limit=3&cursor=${cursor}`);
    t.is(page.total, 4);
    walked.push(...page.data.map((filter) => filter.name));
    cursor = page.pagination.cursor;
  }
  t.deepEqual(walked, ['Kiosks', 'Laptops', 'Old', 'Linux 100%']);
});
