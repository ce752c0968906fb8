/** Reading roles, what they grant, who holds them, and the catalog. */
import test from 'ava';
import { apiKey, organization, orgUser, partnerUser, ROLES, systemUser } from '#test';
import { call, enrolled, make, type Pair, pairs, place, platform, someone } from './arrange.ts';

interface Roles {
  data: { id: string; name: string; userCount: number }[];
  pagination: { total?: number; hasMore?: boolean; cursor?: string | null };
}
interface Holders {
  data: { id: string; name: string; email: string; status: string; orgId: string | null; partnerId: string | null }[];
  pagination: { total?: number; hasMore?: boolean; cursor?: string | null };
}
const list = async (token: string, query = '') => {
  const { body } = await platform.call<Roles>('GET', `/roles?${query}`, { token });
  return body.data.map((role) => `${role.name} ${role.userCount}`);
};

test('each scope sees its own roles and those below, with the users it reaches', async (t) => {
  const [mine, theirs] = await Promise.all([place(), place()]);
  t.deepEqual(await list(mine.orgAdmin.token), ['Organization Admin 1', 'Technician 0', 'Viewer 1']);
  t.deepEqual(await list(mine.partner.token), ['Organization Admin 1', 'Partner Admin 1', 'Technician 0', 'Viewer 1']);
  const system = await systemUser(platform);
  t.true((await call('GET', `/${ROLES.systemAdmin}`, system)).body.userCount > 0);
  t.is((await call('GET', `/${ROLES.systemAdmin}`, mine.partner)).status, 404);
  const path = `/${mine.partnerRoleId}`;
  t.like((await call('GET', path, mine.partner)).body, {
    forceMfa: true,
    isSystem: true,
    userCount: 1,
    permissions: [{ resource: '*', action: '*' }],
  });
  t.is((await call('GET', path, theirs.partner)).status, 404);
  t.is((await call('GET', path, mine.orgAdmin)).status, 404);
  t.is((await call('GET', path, system)).status, 200);
});

test('a list can be narrowed to the roles and users of one tenant', async (t) => {
  const [mine, theirs] = await Promise.all([place(), place()]);
  const second = await organization(platform, mine.partnerId);
  await orgUser(platform, { orgId: second.orgId, roleId: ROLES.viewer });
  await make(mine.orgAdmin, 'Only here');
  await make(mine.partner, 'There', { orgId: second.orgId });
  await make(mine.partner, 'Of the partner');
  const system = await systemUser(platform);
  const here = ['Only here 0', 'Organization Admin 1', 'Technician 0', 'Viewer 1'];
  const there = ['Organization Admin 0', 'Technician 0', 'There 0', 'Viewer 1'];
  for (const token of [mine.orgAdmin.token, mine.partner.token, system.token]) {
    t.deepEqual(await list(token, `orgId=${mine.orgId}`), here);
  }
  for (const token of [mine.partner.token, system.token]) {
    t.deepEqual(await list(token, `orgId=${second.orgId}`), there);
    t.deepEqual(await list(token, `partnerId=${mine.partnerId}`), ['Of the partner 0', 'Partner Admin 1']);
  }
  const status = async (token: string, query: string) =>
    (await platform.call('GET', `/roles?${query}`, { token })).status;
  t.is(await status(mine.orgAdmin.token, `orgId=${second.orgId}`), 403);
  t.is(await status(mine.orgAdmin.token, `partnerId=${mine.partnerId}`), 403);
  t.is(await status(mine.partner.token, `orgId=${theirs.orgId}`), 403);
  t.is(await status(mine.partner.token, `partnerId=${theirs.partnerId}`), 403);
  t.is(await status(system.token, `orgId=${mine.orgId}&partnerId=${mine.partnerId}`), 400);
  const some = await partnerUser(platform, {
    partnerId: mine.partnerId,
    roleId: mine.partnerRoleId,
    orgAccess: 'selected',
    orgIds: [mine.orgId],
  });
  await enrolled(mine);
  t.deepEqual(await list(some.token, `orgId=${mine.orgId}`), here);
  t.is(await status(some.token, `orgId=${second.orgId}`), 403);
});

test('lists come in both forms', async (t) => {
  const { orgAdmin } = await place();
  const page = await platform.call<Roles>('GET', '/roles?limit=2&page=2', orgAdmin);
  t.deepEqual(
    page.body.data.map(({ name }) => name),
    ['Viewer'],
  );
  t.is(page.body.pagination.total, 3);
  const first = await platform.call<Roles>('GET', '/roles?limit=2&cursor=', orgAdmin);
  t.true(first.body.pagination.hasMore);
  const rest = await platform.call<Roles>('GET', `/roles?limit=2&cursor=${first.body.pagination.cursor}`, orgAdmin);
  t.deepEqual(
    rest.body.data.map(({ name }) => name),
    ['Viewer'],
  );
  t.false(rest.body.pagination.hasMore);
});

test('the catalog lists what a role can be given, to those who may read users', async (t) => {
  const at = await place();
  const { orgAdmin, orgId } = at;
  const { body } = await platform.call<{ data: (Pair & { description: string | null })[] }>(
    'GET',
    '/permissions/catalog',
    orgAdmin,
  );
  t.is(body.data.length, 60);
  t.false(body.data.some(({ resource }) => resource === '*'));
  for (const { resource, action, description } of body.data)
    t.regex(description ?? '', /^[A-Z]\w+\W+\w+/, `${resource}:${action}`);
  const available = await call<{ resources: string[]; actions: string[] }>('GET', '/permissions/available', orgAdmin);
  t.deepEqual(available.body, {
    resources: [
      ...['alerts', 'automations', 'backup', 'billing', 'devices', 'organizations'],
      ...['remote', 'reports', 'scripts', 'settings', 'sites', 'users'],
    ],
    actions: ['create', 'delete', 'execute', 'update', 'view'],
  });
  const reads = ['/roles', '/roles/permissions/available', '/permissions/catalog', `/roles/${ROLES.viewer}`];
  const [mayNot, may] = await Promise.all([
    apiKey(platform, { orgId, scopes: ['devices:read'], createdBy: orgAdmin.id }),
    apiKey(platform, { orgId, scopes: ['users:read'], createdBy: orgAdmin.id }),
  ]);
  const nobody = await someone(at, ['users:create', 'users:update', 'users:delete']);
  const reader = await someone(at, ['users:view']);
  for (const path of [...reads, `/roles/${ROLES.viewer}/users`, `/roles/${ROLES.viewer}/effective-permissions`]) {
    t.is((await platform.call('GET', path, { apiKey: mayNot })).status, 403, path);
    t.is((await platform.call('GET', path, { apiKey: may })).status, 200, path);
    t.is((await platform.call('GET', path, nobody)).status, 403, path);
    t.is((await platform.call('GET', path, reader)).status, 200, path);
  }
});

test('effective permissions name the role each comes from, the nearest where several have it', async (t) => {
  const { orgAdmin, viewer } = await place();
  const top = await make(orgAdmin, 'Top', { permissions: pairs('sites:view', 'alerts:view') });
  const middle = await make(orgAdmin, 'Middle', {
    parentRoleId: top.id,
    permissions: pairs('alerts:view', 'scripts:view'),
  });
  const role = await make(orgAdmin, 'Bottom', { parentRoleId: middle.id, permissions: pairs('scripts:view') });
  const { body } = await call<{ data: object[] }>('GET', `/${role.id}/effective-permissions`, viewer);
  const from = ({ id, name }: { id: string; name: string }, inherited: boolean) => ({
    inherited,
    source: { id, name },
  });
  t.deepEqual(body.data, [
    { resource: 'alerts', action: 'view', ...from(middle, true) },
    { resource: 'scripts', action: 'view', ...from(role, false) },
    { resource: 'sites', action: 'view', ...from(top, true) },
  ]);
  const other = await place();
  t.is((await call('GET', `/${role.id}/effective-permissions`, other.orgAdmin)).status, 404);
});

test('the users of a role are those within reach, each with the place', async (t) => {
  const [mine, theirs] = await Promise.all([place(), place()]);
  const second = await organization(platform, mine.partnerId);
  const there = await orgUser(platform, { orgId: second.orgId, roleId: ROLES.viewer });
  const both = await orgUser(platform, { orgId: second.orgId, roleId: ROLES.viewer });
  await platform.sql('insert into organization_users (org_id, user_id, role_id) values ($1, $2, $3)', [
    mine.orgId,
    both.id,
    ROLES.viewer,
  ]);
  const holders = async (token: string, role: string) => {
    const { body } = await platform.call<Holders>('GET', `/roles/${role}/users`, { token });
    return body.data.map((row) => `${row.email} ${row.orgId ?? row.partnerId}`).sort();
  };
  const inMine = [`${mine.viewer.email} ${mine.orgId}`, `${both.email} ${mine.orgId}`].sort();
  t.deepEqual(await holders(mine.orgAdmin.token, ROLES.viewer), inMine);
  t.deepEqual(
    await holders(mine.partner.token, ROLES.viewer),
    [...inMine, `${there.email} ${second.orgId}`, `${both.email} ${second.orgId}`].sort(),
  );
  const partners = await platform.call<Holders>('GET', `/roles/${mine.partnerRoleId}/users`, mine.partner);
  t.deepEqual(partners.body.data, [
    {
      id: mine.partner.id,
      name: `User ${mine.partner.email}`,
      email: mine.partner.email,
      status: 'active',
      orgId: null,
      partnerId: mine.partnerId,
    },
  ]);
  const system = await systemUser(platform);
  const all = await holders(system.token, ROLES.viewer);
  t.true(all.includes(`${theirs.viewer.email} ${theirs.orgId}`) && all.includes(inMine[0] ?? ''));
  t.true((await holders(system.token, ROLES.systemAdmin)).includes(`${system.email} null`));
  t.is((await call('GET', `/${ROLES.systemAdmin}/users`, mine.partner)).status, 404);
  t.is((await call('GET', `/${mine.partnerRoleId}/users`, theirs.partner)).status, 404);
  t.is((await call('GET', `/${mine.partnerRoleId}/users`, mine.orgAdmin)).status, 404);
});

test('the users of a role come page by page, also where one user holds it twice', async (t) => {
  const { partnerId, orgId, viewer, partner } = await place();
  const second = await organization(platform, partnerId);
  await platform.sql('insert into organization_users (org_id, user_id, role_id) values ($1, $2, $3)', [
    second.orgId,
    viewer.id,
    ROLES.viewer,
  ]);
  const path = `/roles/${ROLES.viewer}/users?limit=1`;
  const first = await platform.call<Holders>('GET', path, partner);
  t.is(first.body.pagination.total, 2);
  const seen: (string | null | undefined)[] = [];
  let cursor: string | null | undefined = '';
  while (typeof cursor === 'string') {
    const next: Holders = (await platform.call<Holders>('GET', `${path}&cursor=${cursor}`, partner)).body;
    t.is(next.data.length, 1);
    seen.push(next.data[0]?.orgId);
    cursor = next.pagination.cursor;
  }
  t.deepEqual(seen.sort(), [orgId, second.orgId].sort());
});

test('a partner user without access to all organizations reads roles, but neither users of roles nor changes any', async (t) => {
  const { partnerId, partnerRoleId, orgId, partner } = await place();
  const role = await make(partner, 'In the organization', { orgId });
  const some = await partnerUser(platform, {
    partnerId,
    roleId: partnerRoleId,
    orgAccess: 'selected',
    orgIds: [orgId],
  });
  const none = await partnerUser(platform, { partnerId, roleId: partnerRoleId, orgAccess: 'none' });
  await enrolled({ partnerId });
  t.is((await call('GET', `/${role.id}`, some)).status, 200);
  t.is((await call('GET', `/${role.id}`, none)).status, 404);
  for (const person of [some, none]) {
    for (const [method, path, body] of [
      ['GET', `/${role.id}/users`],
      ['POST', '', { name: 'New' }],
      ['POST', '', { name: 'New', orgId }],
      ['PATCH', `/${role.id}`, { name: 'New' }],
      ['DELETE', `/${role.id}`],
      ['POST', `/${role.id}/clone`, { name: 'New' }],
    ] as const) {
      const answer = await call(method, path, person, body);
      t.is(answer.status, 403, `${method} ${path}`);
      t.is(answer.body.error.message, 'Full partner organization access required');
    }
  }
});
