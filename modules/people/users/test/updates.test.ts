/** Changing users: the person where nobody else has a say, the place in any case. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { ROUTE_PAIRS } from '#core';
import { apiKey, organization, orgUser, partnerUser, ROLES, startTestPlatform, systemUser, tenant, until } from '#test';
import { caller, onPlatform, role } from './arrange.ts';

const platform = await startTestPlatform({ TRUST_PROXY_HEADERS: 'true' });
test.after.always(() => platform.stop());
const { as, invite } = caller(platform);

const change = (token: string, id: string, body: object) => as(token, 'PATCH', `/users/${id}`, body);
const statusOf = async (id: string) =>
  (await platform.sql<{ status: string }>('select status from users where id = $1', [id]))[0]?.status;
const ended = (token: string) => until(async () => (await platform.call('GET', '/users/me', { token })).status === 401);

test('a name is changed and recorded; what changes nothing is not', async (t) => {
  const { orgAdmin, viewer, orgId } = await tenant(platform);
  const { status, body } = await change(orgAdmin.token, viewer.id, { name: ' Vera Viewer ' });
  t.is(status, 200);
  t.is(body.name, 'Vera Viewer');
  t.is((await change(orgAdmin.token, viewer.id, { name: 'Vera Viewer', status: 'active' })).status, 200);
  const audits = await platform.audits({ orgId, action: 'user.update' });
  t.is(audits.length, 1);
  t.like(audits[0], { resource_id: viewer.id, actor_id: orgAdmin.id, resource_type: 'user' });
  t.deepEqual(audits[0]?.details.changedFields, ['name']);
  for (const body of [{}, { orgId }]) {
    t.is((await change(orgAdmin.token, viewer.id, body)).body.error.message, 'No updates provided');
  }
  for (const body of [{ name: '' }, { status: 'invited' }, { email: 'a@b.c' }]) {
    t.is((await change(orgAdmin.token, viewer.id, body)).status, 400, JSON.stringify(body));
  }
});

test('disabling ends every session within a second, and enabling lets the user log in again', async (t) => {
  const { orgAdmin, viewer } = await tenant(platform);
  const { body } = await change(orgAdmin.token, viewer.id, { status: 'disabled' });
  t.is(body.status, 'disabled');
  await ended(viewer.token);
  const running = await platform.sql('select from sessions where user_id = $1 and revoked_at is null', [viewer.id]);
  t.is(running.length, 0);
  t.is((await change(orgAdmin.token, viewer.id, { status: 'active' })).body.status, 'active');
  t.is((await platform.call('GET', '/users/me', { token: viewer.token })).status, 401, 'old sessions stay ended');
});

test('nobody disables themselves, nor the last administrator', async (t) => {
  const { orgAdmin, partner, orgId } = await tenant(platform);
  t.is((await change(orgAdmin.token, orgAdmin.id, { status: 'disabled' })).body.error.code, 'OWN_ACCOUNT');
  const last = await change(partner.token, orgAdmin.id, { orgId, status: 'disabled' });
  t.is(last.status, 409);
  t.is(last.body.error.code, 'LAST_ADMINISTRATOR');
  t.is(await statusOf(orgAdmin.id), 'active');
  t.is((await platform.call('GET', '/users', { token: orgAdmin.token })).status, 200, 'the session goes on');
  await orgUser(platform, { orgId });
  t.is((await change(partner.token, orgAdmin.id, { orgId, status: 'disabled' })).status, 200);
});

test('two administrators who disable each other at the same time leave one', async (t) => {
  for (let round = 0; round < 3; round += 1) {
    const { orgAdmin, orgId } = await tenant(platform);
    const second = await orgUser(platform, { orgId });
    const both = await Promise.all([
      change(orgAdmin.token, second.id, { status: 'disabled' }),
      change(second.token, orgAdmin.id, { status: 'disabled' }),
    ]);
    t.is(both.filter(({ status }) => status === 200).length, 1);
    t.deepEqual([await statusOf(orgAdmin.id), await statusOf(second.id)].sort(), ['active', 'disabled']);
  }
});

test('name and status of a user who also belongs elsewhere are not a tenant’s to change, the place is', async (t) => {
  const { orgAdmin, viewer, orgId, siteId } = await tenant(platform);
  const other = await tenant(platform);
  await platform.sql('insert into organization_users (org_id, user_id, role_id) values ($1, $2, $3)', [
    ...[other.orgId, viewer.id, ROLES.viewer],
  ]);
  for (const body of [{ status: 'disabled' }, { name: 'New' }, { name: 'New', siteIds: [siteId] }]) {
    const refused = await change(orgAdmin.token, viewer.id, body);
    t.is(refused.status, 409);
    t.is(refused.body.error.code, 'USER_SHARED');
  }
  const untouched = (await as(orgAdmin.token, 'GET', `/users/${viewer.id}`)).body;
  t.like(untouched, { status: 'active', name: `User ${viewer.email}`, siteIds: null });
  t.deepEqual((await change(orgAdmin.token, viewer.id, { siteIds: [siteId] })).body.siteIds, [siteId]);
  t.is((await platform.audits({ orgId })).filter(({ action }) => action === 'user.update').length, 1);
  await platform.sql('insert into system_users values ($1, $2)', [orgAdmin.id, ROLES.systemAdmin]);
  await orgUser(platform, { orgId });
  const second = await orgUser(platform, { orgId });
  t.is((await change(second.token, orgAdmin.id, { status: 'disabled' })).body.error.code, 'USER_SHARED');
});

test('a partner changes the user of several of its organizations, one that was removed included, and each trail says so', async (t) => {
  const { partner, viewer, orgId, partnerId } = await tenant(platform);
  const second = await organization(platform, partnerId);
  const gone = await organization(platform, partnerId);
  for (const place of [second, gone]) {
    await platform.sql('insert into organization_users (org_id, user_id, role_id) values ($1, $2, $3)', [
      ...[place.orgId, viewer.id, ROLES.viewer],
    ]);
  }
  await platform.sql('update organizations set deleted_at = now() where id = $1', [gone.orgId]);
  t.is((await change(partner.token, viewer.id, { orgId, status: 'disabled' })).status, 200);
  for (const id of [orgId, second.orgId]) {
    const audits = await platform.audits({ orgId: id, action: 'user.update' });
    t.deepEqual(
      audits.map(({ resource_id, details }) => [resource_id, details.changedFields]),
      [[viewer.id, ['status']]],
    );
  }
});

test('a partner may not disable the last administrator of any of its organizations', async (t) => {
  const { partner, orgAdmin, viewer, orgId, partnerId } = await tenant(platform);
  const second = await organization(platform, partnerId);
  await platform.sql('insert into organization_users (org_id, user_id, role_id) values ($1, $2, $3)', [
    ...[second.orgId, viewer.id, ROLES.orgAdmin],
  ]);
  const refused = await change(partner.token, viewer.id, { orgId, status: 'disabled' });
  t.is(refused.body.error.code, 'LAST_ADMINISTRATOR');
  t.is(await statusOf(viewer.id), 'active');
  t.is((await change(partner.token, orgAdmin.id, { orgId, name: 'Renamed' })).status, 200);
});

test('nobody changes a superior: who may do more, here or in another place, or reaches further', async (t) => {
  const { orgAdmin, viewer, orgId, siteId, partnerId } = await tenant(platform);
  const clerkRole = await role(platform, { orgId }, ['users:update', 'users:delete', 'users:view']);
  const clerk = await orgUser(platform, { orgId, roleId: clerkRole });
  const colleague = await orgUser(platform, { orgId, roleId: clerkRole });
  for (const body of [{ status: 'disabled' }, { name: 'X' }, { siteIds: [siteId] }]) {
    t.is((await change(clerk.token, orgAdmin.id, body)).status, 403, JSON.stringify(body));
    t.is((await change(clerk.token, viewer.id, body)).status, 403);
  }
  t.is((await change(clerk.token, colleague.id, { name: 'Y' })).status, 200);
  const limited = await orgUser(platform, { orgId, siteIds: [siteId] });
  t.is((await change(limited.token, viewer.id, { name: 'Z' })).body.error.code, 'TARGET_OUT_OF_SCOPE');
  const inSite = await orgUser(platform, { orgId, roleId: ROLES.viewer, siteIds: [siteId] });
  t.is((await change(limited.token, inSite.id, { name: 'Z' })).status, 200);
  t.is((await change(limited.token, inSite.id, { siteIds: null })).body.error.code, 'SITE_ACCESS_DENIED');

  const helper = await partnerUser(platform, {
    partnerId,
    roleId: await role(platform, { partnerId }, ['users:update', 'devices:view']),
  });
  const low = await role(platform, { orgId }, ['devices:view']);
  const elsewhere = await organization(platform, partnerId);
  const person = await orgUser(platform, { orgId, roleId: low });
  t.is((await change(helper.token, person.id, { orgId, name: 'One place' })).status, 200);
  await platform.sql('insert into organization_users (org_id, user_id, role_id) values ($1, $2, $3)', [
    ...[elsewhere.orgId, person.id, ROLES.orgAdmin],
  ]);
  t.is((await change(helper.token, person.id, { orgId, name: 'Two' })).status, 403);
});

test('limits hold from the next request on, and narrowing the last administrator is refused', async (t) => {
  const { orgAdmin, viewer, orgId, siteId } = await tenant(platform);
  const other = await tenant(platform);
  const sites = async () =>
    (await platform.call<{ data: object[] }>('GET', '/orgs/sites', { token: viewer.token })).body.data.length;
  await platform.sql(`insert into sites (org_id, name) values ($1, 'Second')`, [orgId]);
  t.is(await sites(), 2);
  t.is((await change(orgAdmin.token, viewer.id, { siteIds: [siteId] })).status, 200);
  await until(async () => (await sites()) === 1);
  t.is((await change(orgAdmin.token, viewer.id, { siteIds: [other.siteId] })).status, 400);
  t.is((await change(orgAdmin.token, viewer.id, { deviceGroupIds: [randomUUID()] })).status, 400);
  t.is((await change(orgAdmin.token, viewer.id, { orgAccess: 'all' })).body.error.details[0]?.path, 'orgAccess');
  t.is((await change(orgAdmin.token, orgAdmin.id, { siteIds: [siteId] })).body.error.code, 'LAST_ADMINISTRATOR');
  t.is((await change(orgAdmin.token, viewer.id, { siteIds: [] })).body.siteIds, null, 'an empty list limits nothing');
  const audits = await platform.audits({ orgId, action: 'user.update' });
  t.deepEqual(
    audits.map(({ details }) => details.changedFields),
    [['siteIds'], ['siteIds']],
  );
});

test('a partner user’s organizations are changed together with the kind of access', async (t) => {
  const { partner, partnerId, partnerRoleId, orgId } = await tenant(platform);
  const second = await organization(platform, partnerId);
  const helper = await partnerUser(platform, { partnerId, roleId: partnerRoleId });
  const body = async (changes: object) => (await change(partner.token, helper.id, changes)).body;
  t.is((await body({ orgAccess: 'selected' })).error.details[0]?.path, 'orgIds');
  t.is((await body({ orgIds: [orgId] })).error.details[0]?.path, 'orgIds', 'access is still to all');
  t.like(await body({ orgAccess: 'selected', orgIds: [orgId] }), { orgAccess: 'selected', orgIds: [orgId] });
  t.like(await body({ orgIds: [second.orgId] }), { orgAccess: 'selected', orgIds: [second.orgId] });
  const beside = (await body({ orgAccess: 'all', orgIds: [orgId] })).error.details[0];
  t.like(beside, {
    path: 'orgIds',
    message: 'orgAccess all takes no orgIds: leave them out, or set orgAccess to selected',
  });
  t.like(await body({ orgAccess: 'all', orgIds: [] }), { orgAccess: 'all', orgIds: [] });
  t.is((await body({ siteIds: null })).error.details[0]?.path, 'siteIds');
  const narrowed = await change(partner.token, partner.id, { orgAccess: 'none' });
  t.is(narrowed.status, 200, 'the other one reaches everything');
  await until(async () => (await change(partner.token, helper.id, { orgAccess: 'none' })).status === 403);
  t.is((await change(helper.token, helper.id, { orgAccess: 'none' })).body.error.code, 'LAST_ADMINISTRATOR');
});

test('an invitation takes another name and other limits, but no status', async (t) => {
  const { orgAdmin, siteId, orgId } = await tenant(platform);
  const { body } = await invite(orgAdmin.token);
  const refused = await change(orgAdmin.token, body.id, { status: 'disabled' });
  t.is(refused.status, 409);
  t.is(refused.body.error.code, 'INVALID_STATE');
  const both = await change(orgAdmin.token, body.id, { status: 'active', siteIds: [siteId] });
  t.is(both.status, 409);
  t.is((await as(orgAdmin.token, 'GET', `/users/${body.id}`)).body.siteIds, null, 'nothing half done');
  const changed = await change(orgAdmin.token, body.id, { name: 'Renamed', siteIds: [siteId] });
  t.like(changed.body, { name: 'Renamed', siteIds: [siteId], status: 'invited' });
  const audits = await platform.audits({ orgId, action: 'user.update' });
  t.deepEqual(audits[0]?.details.changedFields, ['name', 'siteIds']);
});

test('system callers name the tenant, keys carry the scope, and another tenant’s user is not found', async (t) => {
  const { orgAdmin, viewer, partner, orgId, partnerId } = await tenant(platform);
  const stranger = await tenant(platform);
  const admin = await systemUser(platform);
  t.is((await change(admin.token, viewer.id, { name: 'A' })).status, 403);
  t.is((await change(admin.token, viewer.id, { orgId, name: 'A' })).status, 200);
  t.is((await change(admin.token, partner.id, { partnerId, name: 'B' })).status, 200);
  for (const { token } of [stranger.orgAdmin, stranger.partner]) {
    t.is((await change(token, viewer.id, { name: 'C' })).status, 404);
    t.is((await change(token, viewer.id, { orgId, name: 'C' })).status, 403);
  }
  t.is((await change(partner.token, viewer.id, { name: 'C' })).status, 404, 'not of the partner itself');
  const key = (scopes: string[]) => apiKey(platform, { orgId, scopes, createdBy: orgAdmin.id });
  const byKey = async (scopes: string[]) =>
    (await platform.call('PATCH', `/users/${viewer.id}`, { apiKey: await key(scopes), body: { name: 'Key' } })).status;
  t.is(await byKey(['users:read']), 403);
  t.is(await byKey(['users:write']), 403, 'a viewer sees more than this key');
  t.is(await byKey(['*']), 403, 'a viewer reads live tools, which * does not open');
  t.is(await byKey(['*', ...ROUTE_PAIRS]), 200);
});

test('a place given elsewhere while a user is being disabled waits, and the tenant is told of neither', async (t) => {
  const { orgAdmin, viewer } = await tenant(platform);
  const other = await tenant(platform);
  // Both at once, in either order: the user is never disabled by a tenant that shares it.
  for (let round = 0; round < 3; round += 1) {
    const [disabled] = await Promise.all([
      change(orgAdmin.token, viewer.id, { status: 'disabled' }),
      onPlatform(platform, (ctx) =>
        ctx.use('users').addMember({ orgId: other.orgId, userId: viewer.id, roleId: ROLES.viewer }),
      ),
    ]);
    const shared = await platform.sql('select from organization_users where user_id = $1 and org_id = $2', [
      ...[viewer.id, other.orgId],
    ]);
    t.is(disabled.status === 200, shared.length === 0);
    await platform.sql('delete from organization_users where user_id = $1 and org_id = $2', [viewer.id, other.orgId]);
    await platform.sql(`update users set status = 'active' where id = $1`, [viewer.id]);
  }
});

test('changes of one user’s account and limits at the same time never block each other for good', async (t) => {
  const { orgAdmin, viewer, orgId, siteId } = await tenant(platform);
  const second = await orgUser(platform, { orgId });
  for (let round = 0; round < 5; round += 1) {
    const both = await Promise.all([
      change(orgAdmin.token, viewer.id, { siteIds: round % 2 ? null : [siteId], status: 'active', name: `A${round}` }),
      change(second.token, viewer.id, { status: 'disabled' }),
    ]);
    t.true(
      both.every(({ status }) => status === 200),
      JSON.stringify(both.map(({ body }) => body)),
    );
    await platform.sql(`update users set status = 'active' where id = $1`, [viewer.id]);
  }
});

test('a key with * invites no administrator, who may do what it may not', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const key = await apiKey(platform, { orgId, scopes: ['*', ...ROUTE_PAIRS], createdBy: orgAdmin.id });
  const invite = (roleId: string) =>
    platform.call<{ error?: { code: string } }>('POST', '/users/invite', {
      apiKey: key,
      body: { email: `${orgId}@example.com`, name: 'New', roleId },
    });
  // People with users:update reset second factors and change roles, which no key may.
  for (const roleId of [ROLES.orgAdmin, await role(platform, { orgId }, ['users:view', 'users:update'])]) {
    const refused = await invite(roleId);
    t.deepEqual([refused.status, refused.body.error?.code], [403, 'FORBIDDEN']);
  }
  t.is((await invite(ROLES.viewer)).status, 201);
});
