/** Listing and reading the users of a tenant. */
import test from 'ava';
import { apiKey, organization, orgUser, partnerUser, ROLES, startTestPlatform, systemUser, tenant } from '#test';
import { caller, role } from './arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const { as, invite, list } = caller(platform);

test('a list holds the members of the caller’s own tenant and those invited to it, and nobody else', async (t) => {
  const here = await tenant(platform);
  const other = await organization(platform, here.partnerId);
  await orgUser(platform, { orgId: other.orgId });
  await invite(here.partner.token, { orgId: other.orgId });
  const { body: invited } = await invite(here.orgAdmin.token);
  const own = await list(here.orgAdmin.token);
  t.deepEqual(
    own.data.map(({ id }) => id).sort(),
    [here.orgAdmin.id, here.viewer.id, invited.id].sort(),
    'the partner’s people are not the organization’s',
  );
  t.is(own.pagination.total, 3);
  t.deepEqual(
    (await list(here.partner.token)).data.map(({ id }) => id),
    [here.partner.id],
  );
  t.is((await list(here.partner.token, `orgId=${other.orgId}`)).data.length, 2);
  const admin = await systemUser(platform);
  t.is((await list(admin.token, `orgId=${here.orgId}`)).data.length, 3);
  t.is((await list(admin.token, `partnerId=${here.partnerId}`)).data.length, 1);
});

test('an organization does not see its partner’s invitations, whatever it may read of the partner’s shared objects', async (t) => {
  const { partner, orgAdmin, partnerRoleId, partnerId, orgId } = await tenant(platform);
  const { body, status } = await invite(partner.token, { roleId: partnerRoleId, orgAccess: 'all' });
  t.is(status, 201);
  t.is((await as(orgAdmin.token, 'GET', `/users/${body.id}`)).status, 404);
  const { app } = platform.platform.tasks.work.database;
  const client = await app.connect();
  await client.query(
    `begin; select set_config('app.org_ids', '{${orgId}}', true), set_config('app.owner_partner_id', '${partnerId}', true)`,
  );
  const { rows } = await client.query('select id from invitations');
  await client.query('rollback');
  client.release();
  t.deepEqual(rows, []);
});

test('an item shows what its kind of tenant knows, and no secret', async (t) => {
  const { orgAdmin, viewer, siteId, orgId, partner, partnerRoleId } = await tenant(platform);
  await platform.sql('update organization_users set site_ids = $2 where user_id = $1', [viewer.id, [siteId]]);
  const { body } = await as(orgAdmin.token, 'GET', `/users/${viewer.id}`);
  t.deepEqual(Object.keys(body).sort(), [
    'avatarUrl',
    'createdAt',
    'deviceGroupIds',
    'email',
    'id',
    'lastLoginAt',
    'mfaEnabled',
    'name',
    'roleId',
    'roleName',
    'siteIds',
    'status',
  ]);
  t.like(body, {
    email: viewer.email,
    status: 'active',
    roleId: ROLES.viewer,
    roleName: 'Viewer',
    deviceGroupIds: null,
  });
  t.deepEqual(body.siteIds, [siteId]);
  const above = (await as(partner.token, 'GET', `/users/${partner.id}`)).body;
  t.like(above, { roleId: partnerRoleId, orgAccess: 'all', orgIds: [] });
  t.false('siteIds' in above);
  const { body: invited } = await invite(orgAdmin.token, { siteIds: [siteId] });
  const read = (await as(orgAdmin.token, 'GET', `/users/${invited.id}`)).body;
  t.like(read, { status: 'invited', name: 'Ann Example', siteIds: [siteId] });
  const days = (Date.parse(read.invitationExpiresAt ?? '') - Date.now()) / 86_400_000;
  t.true(days > 6.9 && days < 7.1);
  t.is((await as(partner.token, 'GET', `/users/${viewer.id}?orgId=${orgId}`)).status, 200);
});

test('filters narrow the list, and text is searched as it is written', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  await invite(orgAdmin.token, { name: 'Zoë 100% Önder', email: 'zoe_o@example.com' });
  await invite(orgAdmin.token, { name: 'Bob', email: 'bob@example.com', roleId: ROLES.technician });
  const disabled = await orgUser(platform, { orgId });
  await platform.sql(`update users set status = 'disabled' where id = $1`, [disabled.id]);
  const names = async (query: string) => (await list(orgAdmin.token, query)).data.map(({ email }) => email);
  t.deepEqual(await names('search=önd'), ['zoe_o@example.com']);
  t.deepEqual(await names('search=100%25'), ['zoe_o@example.com']);
  t.deepEqual(await names('search=_O'), ['zoe_o@example.com']);
  t.deepEqual(await names('search=BOB%40'), ['bob@example.com']);
  t.deepEqual(await names('search=bob%20bob'), []);
  t.deepEqual(await names('status=disabled'), [disabled.email]);
  t.deepEqual((await names('status=invited')).sort(), ['bob@example.com', 'zoe_o@example.com']);
  t.deepEqual(await names(`roleId=${ROLES.technician}`), ['bob@example.com']);
  t.is((await as(orgAdmin.token, 'GET', '/users?status=gone')).status, 400);
});

test('pages and cursors show everybody once, by name whatever its case', async (t) => {
  const { orgAdmin } = await tenant(platform);
  for (const name of ['beta', 'Alpha', 'alpha', 'Beta', 'gamma']) await invite(orgAdmin.token, { name });
  const all = (await list(orgAdmin.token)).data.map(({ id }) => id);
  t.is(all.length, 7);
  const pages = [];
  for (const page of [1, 2, 3, 4]) pages.push(...(await list(orgAdmin.token, `limit=2&page=${page}`)).data);
  t.deepEqual(
    pages.map(({ id }) => id),
    all,
  );
  const walked: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: Awaited<ReturnType<typeof list>> = await list(orgAdmin.token, `limit=2&cursor=${cursor}`);
    walked.push(...page.data.map(({ id }) => id));
    cursor = page.pagination.cursor;
  }
  t.deepEqual(walked, all);
  const names = (await list(orgAdmin.token)).data.map(({ name }) => name.toLowerCase());
  t.deepEqual(names, [...names].sort());
});

test('the roles offered are those of the tenant that is administered', async (t) => {
  const { orgAdmin, partner, orgId, partnerRoleId, partnerId } = await tenant(platform);
  const own = await role(platform, { orgId }, ['devices:view']);
  const shared = await role(platform, { partnerId }, ['devices:view']);
  const ids = async (token: string, query = '') =>
    (await platform.call<{ data: { id: string }[] }>('GET', `/users/roles${query}`, { token })).body.data
      .map(({ id }) => id)
      .sort();
  t.deepEqual(await ids(orgAdmin.token), [ROLES.orgAdmin, ROLES.technician, ROLES.viewer, own].sort());
  t.deepEqual(await ids(partner.token), [partnerRoleId, shared].sort());
  t.deepEqual(await ids(partner.token, `?orgId=${orgId}`), await ids(orgAdmin.token));
});

test('who may not administer a tenant is told so, and another tenant’s users are not found', async (t) => {
  const { orgAdmin, partner, partnerId, partnerRoleId, orgId, viewer } = await tenant(platform);
  const stranger = await tenant(platform);
  const admin = await systemUser(platform);
  const some = await partnerUser(platform, {
    partnerId,
    roleId: partnerRoleId,
    orgAccess: 'selected',
    orgIds: [orgId],
  });
  for (const path of ['/users', '/users/roles', `/users/${viewer.id}`]) {
    t.is((await as(some.token, 'GET', path)).body.error.message, 'Full partner organization access required');
    const bare = await as(admin.token, 'GET', path);
    t.is(bare.status, 403);
    t.is(bare.body.error.message, 'Partner or organization context required');
    t.is((await as(stranger.partner.token, 'GET', `${path}?orgId=${orgId}`)).status, 403);
    t.is((await as(orgAdmin.token, 'GET', `${path}?orgId=${stranger.orgId}`)).status, 403);
    t.is((await as(orgAdmin.token, 'GET', `${path}?partnerId=${partnerId}`)).status, 403);
    t.is((await as(partner.token, 'GET', `${path}?partnerId=${stranger.partnerId}`)).status, 403);
  }
  t.is((await as(stranger.orgAdmin.token, 'GET', `/users/${viewer.id}`)).status, 404);
  t.is((await as(stranger.partner.token, 'GET', `/users/${viewer.id}?orgId=${stranger.orgId}`)).status, 404);
  t.is((await as(orgAdmin.token, 'GET', `/users/${partner.id}`)).status, 404);
});

test('each route wants its own permission', async (t) => {
  const { orgId, viewer } = await tenant(platform);
  const roleId = await role(platform, { orgId }, ['devices:view']);
  const nobody = await orgUser(platform, { orgId, roleId });
  const asked: [string, string, object?][] = [
    ['GET', '/users'],
    ['GET', '/users/roles'],
    ['GET', `/users/${viewer.id}`],
    ['POST', '/users/invite', {}],
    ['POST', '/users/resend-invite', {}],
    ['PATCH', `/users/${viewer.id}`, {}],
    ['DELETE', `/users/${viewer.id}`],
    ['POST', `/users/${viewer.id}/role`, {}],
  ];
  for (const [method, path, body] of asked) {
    t.is((await as(nobody.token, method, path, body)).status, 403, `${method} ${path}`);
  }
  const reader = await apiKey(platform, { orgId, scopes: ['users:read'], createdBy: viewer.id });
  t.is((await platform.call('GET', '/users', { apiKey: reader })).status, 200);
  t.is((await platform.call('DELETE', `/users/${viewer.id}`, { apiKey: reader })).status, 403);
});
