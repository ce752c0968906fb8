/** Taking people out of a tenant, and giving them another role. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { hashPassword } from '#core/auth';
import { apiKey, orgUser, partnerUser, ROLES, startTestPlatform, systemUser, tenant, until } from '#test';
import { caller, fromSomewhere, onPlatform, PASSWORD, role, tokenFor } from './arrange.ts';

// A login is by password alone here; the second factor has tests of its own.
const platform = await startTestPlatform({ ENABLE_2FA: 'false', TRUST_PROXY_HEADERS: 'true' });
platform.newcomers = true;
test.after.always(() => platform.stop());
const { as, invite, list, open } = caller(platform);

const remove = (token: string, id: string, query = '') => as(token, 'DELETE', `/users/${id}${query}`);
const assign = (token: string, id: string, roleId: string, more: object = {}) =>
  as(token, 'POST', `/users/${id}/role`, { roleId, ...more });
const members = async (token: string) => (await list(token)).data.map(({ id }) => id);

test.serial(
  'removing takes the association and its sessions; the account stays and can be invited again',
  async (t) => {
    const { orgAdmin, viewer, orgId } = await tenant(platform);
    const other = await tenant(platform);
    await platform.sql('update users set password_hash = $2 where id = $1', [viewer.id, await hashPassword(PASSWORD)]);
    await platform.sql('insert into organization_users (org_id, user_id, role_id) values ($1, $2, $3)', [
      ...[other.orgId, viewer.id, ROLES.viewer],
    ]);
    const login = (at: string) =>
      platform.call<{ tokens: { accessToken: string } }>('POST', '/auth/login', {
        body: { email: viewer.email, password: PASSWORD, orgId: at },
        headers: fromSomewhere(),
      });
    const elsewhere = (await login(other.orgId)).body.tokens.accessToken;
    const { status, body } = await remove(orgAdmin.token, viewer.id);
    t.is(status, 200);
    t.deepEqual(body as object, { success: true });
    await until(async () => (await platform.call('GET', '/users/me', { token: viewer.token })).status === 401);
    t.is((await platform.call('GET', '/users/me', { token: elsewhere })).status, 200, 'the other place goes on');
    t.deepEqual(await members(orgAdmin.token), [orgAdmin.id]);
    t.is((await remove(orgAdmin.token, viewer.id)).status, 404);
    t.is((await login(orgId)).status, 403);
    const audits = await platform.audits({ orgId, action: 'user.remove' });
    t.deepEqual(
      audits.map(({ resource_id, actor_id }) => [resource_id, actor_id]),
      [[viewer.id, orgAdmin.id]],
    );
    t.is((await invite(orgAdmin.token, { email: viewer.email })).status, 201);
    t.is((await open('accept-invite', { token: await tokenFor(platform, viewer.email) })).status, 200);
    t.true((await members(orgAdmin.token)).includes(viewer.id));
    const [session] = await platform.sql<{ ended: boolean }>(
      'select revoked_at is not null as ended from sessions where id = $1',
      [viewer.sessionId],
    );
    t.true(session?.ended, 'the session of before does not come back with the place');
    const events = await platform.sql<{ name: string }>(
      `select name from events where org_id = $1 and name <> 'users.invited' order by occurred_at`,
      [orgId],
    );
    t.deepEqual(
      events.map(({ name }) => name),
      ['users.removed', 'users.joined'],
    );
  },
);

test.serial('withdrawing an invitation leaves nothing, and is recorded as such', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const { body } = await invite(orgAdmin.token);
  const token = await tokenFor(platform, body.email);
  t.is((await remove(orgAdmin.token, body.id)).status, 200);
  t.is((await open('invitations/check', { token })).status, 400);
  t.is((await platform.sql('select from invitations where id = $1', [body.id])).length, 0);
  t.like((await platform.audits({ orgId, action: 'user.remove' }))[0]?.details, { invitation: true });
  t.is((await invite(orgAdmin.token, { email: body.email })).status, 201);
});

test.serial('accepting and withdrawing at the same time end in one of the two', async (t) => {
  for (let round = 0; round < 3; round += 1) {
    const { orgAdmin } = await tenant(platform);
    const { body } = await invite(orgAdmin.token);
    const token = await tokenFor(platform, body.email);
    const [accepted, withdrawn] = await Promise.all([
      open('accept-invite', { token, password: PASSWORD }),
      remove(orgAdmin.token, body.id),
    ]);
    t.true((accepted.status === 200) !== (withdrawn.status === 200), `${accepted.status} ${withdrawn.status}`);
    const found = (await list(orgAdmin.token, `search=${body.email}`)).data;
    t.is(found.length, accepted.status === 200 ? 1 : 0);
  }
});

test('nobody removes themselves, the last administrator, or a superior', async (t) => {
  const { orgAdmin, viewer, orgId, partner, partnerId, partnerRoleId, siteId } = await tenant(platform);
  t.is((await remove(orgAdmin.token, orgAdmin.id)).body.error.code, 'OWN_ACCOUNT');
  t.is((await remove(partner.token, orgAdmin.id, `?orgId=${orgId}`)).body.error.code, 'LAST_ADMINISTRATOR');
  const roleId = await role(platform, { orgId }, ['users:delete']);
  const clerk = await orgUser(platform, { orgId, roleId });
  const limited = await orgUser(platform, { orgId, siteIds: [siteId] });
  const { body } = await invite(orgAdmin.token, { roleId: ROLES.orgAdmin });
  for (const id of [orgAdmin.id, viewer.id, body.id]) t.is((await remove(clerk.token, id)).status, 403);
  t.is((await remove(limited.token, viewer.id)).body.error.code, 'TARGET_OUT_OF_SCOPE');
  t.is((await remove(clerk.token, (await orgUser(platform, { orgId, roleId })).id)).status, 200);
  const second = await partnerUser(platform, { partnerId, roleId: partnerRoleId, orgAccess: 'none' });
  const admin = await systemUser(platform);
  t.is((await remove(admin.token, partner.id, `?partnerId=${partnerId}`)).body.error.code, 'LAST_ADMINISTRATOR');
  t.is((await remove(partner.token, second.id)).status, 200);
  t.is((await remove(admin.token, viewer.id, `?orgId=${orgId}`)).status, 200);
});

test('two administrators who remove each other at the same time leave one', async (t) => {
  for (let round = 0; round < 3; round += 1) {
    const { orgAdmin, orgId } = await tenant(platform);
    const second = await orgUser(platform, { orgId });
    const both = await Promise.all([remove(orgAdmin.token, second.id), remove(second.token, orgAdmin.id)]);
    t.is(both.filter(({ status }) => status === 200).length, 1);
    const left = await platform.sql('select from organization_users where org_id = $1 and role_id = $2', [
      ...[orgId, ROLES.orgAdmin],
    ]);
    t.is(left.length, 1);
  }
});

test('another tenant’s users are out of reach for removing and for roles, and nothing changes', async (t) => {
  const { orgAdmin, viewer, orgId, partner } = await tenant(platform);
  const { body } = await invite(orgAdmin.token);
  const stranger = await tenant(platform);
  for (const id of [viewer.id, body.id]) {
    for (const { token } of [stranger.orgAdmin, stranger.partner, partner]) {
      t.is((await remove(token, id)).status, 404);
      t.is((await assign(token, id, ROLES.orgAdmin)).status, 404);
    }
    for (const { token } of [stranger.orgAdmin, stranger.partner]) {
      t.is((await remove(token, id, `?orgId=${orgId}`)).status, 403);
      t.is((await assign(token, id, ROLES.orgAdmin, { orgId })).status, 403);
    }
  }
  t.is((await members(orgAdmin.token)).length, 3);
  t.is((await as(orgAdmin.token, 'GET', `/users/${viewer.id}`)).body.roleId, ROLES.viewer);
});

test('another role counts from the next request on; the same role changes nothing', async (t) => {
  const { orgAdmin, viewer, orgId } = await tenant(platform);
  const invites = async () => (await invite(viewer.token)).status;
  t.is(await invites(), 403);
  const { status, body } = await assign(orgAdmin.token, viewer.id, ROLES.orgAdmin);
  t.is(status, 200);
  t.like(body, { id: viewer.id, roleId: ROLES.orgAdmin, roleName: 'Organization Admin' });
  await until(async () => (await invites()) === 201);
  t.is((await assign(orgAdmin.token, viewer.id, ROLES.orgAdmin)).status, 200);
  const audits = await platform.audits({ orgId, action: 'user.role.assign' });
  t.is(audits.length, 1);
  t.like(audits[0]?.details, { from: { roleId: ROLES.viewer, roleName: 'Viewer' } });
  t.like(audits[0]?.details, { to: { roleId: ROLES.orgAdmin, roleName: 'Organization Admin' } });
});

test('a role is given by whoever holds what it grants, and taken by whoever holds what the old one granted', async (t) => {
  const { orgAdmin, viewer, orgId, partner, partnerRoleId } = await tenant(platform);
  const other = await tenant(platform);
  const lowly = await role(platform, { orgId }, ['users:create', 'devices:view']);
  const plain = await role(platform, { orgId }, ['devices:view']);
  const foreign = await role(platform, { orgId: other.orgId }, ['devices:view']);
  const clerk = await orgUser(platform, { orgId, roleId: lowly });
  const person = await orgUser(platform, { orgId, roleId: plain });
  t.is((await assign(clerk.token, person.id, ROLES.technician)).status, 403, 'more than the clerk has');
  t.is((await assign(clerk.token, clerk.id, ROLES.orgAdmin)).status, 403);
  t.is((await assign(clerk.token, viewer.id, plain)).status, 403, 'a viewer has more');
  t.is((await assign(clerk.token, person.id, lowly)).status, 200);
  for (const roleId of [foreign, partnerRoleId, ROLES.systemAdmin, randomUUID()]) {
    t.is((await assign(orgAdmin.token, viewer.id, roleId)).body.error.message, 'Role not found');
  }
  t.is((await assign(orgAdmin.token, orgAdmin.id, ROLES.viewer)).body.error.code, 'LAST_ADMINISTRATOR');
  t.is((await assign(partner.token, partner.id, ROLES.viewer)).status, 404);
  t.is((await assign(partner.token, viewer.id, ROLES.technician, { orgId })).status, 200);
});

test('two administrators who demote each other at the same time leave one', async (t) => {
  for (let round = 0; round < 3; round += 1) {
    const { orgAdmin, orgId } = await tenant(platform);
    const second = await orgUser(platform, { orgId });
    const both = await Promise.all([
      assign(orgAdmin.token, second.id, ROLES.viewer),
      assign(second.token, orgAdmin.id, ROLES.viewer),
    ]);
    t.is(both.filter(({ status }) => status === 200).length, 1);
  }
});

test('of a promotion and a removal at the same time, the removal does not hit who was promoted unseen', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const roleId = await role(platform, { orgId }, ['users:delete', 'users:view']);
  for (let round = 0; round < 3; round += 1) {
    const clerk = await orgUser(platform, { orgId, roleId });
    const rising = await orgUser(platform, { orgId, roleId });
    const [promoted, removed] = await Promise.all([
      assign(orgAdmin.token, rising.id, ROLES.orgAdmin),
      remove(clerk.token, rising.id),
    ]);
    t.true((promoted.status === 200) !== (removed.status === 200), `${promoted.status} ${removed.status}`);
  }
});

test('an invitation is given another role, which is what accepting gives', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const { body } = await invite(orgAdmin.token);
  t.like((await assign(orgAdmin.token, body.id, ROLES.technician)).body, {
    roleId: ROLES.technician,
    status: 'invited',
  });
  const clerk = await orgUser(platform, { orgId, roleId: await role(platform, { orgId }, ['users:create']) });
  t.is((await assign(clerk.token, body.id, ROLES.viewer)).body.error.details[0]?.path, 'id', 'a technician has more');
  const [row] = await platform.sql<{ role_id: string }>('select role_id from invitations where id = $1', [body.id]);
  t.is(row?.role_id, ROLES.technician);
});

test('a key assigns roles with the exact scope only, and none that grants more than its scopes', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const [low, more] = [await role(platform, { orgId }, []), await role(platform, { orgId }, ['devices:view'])];
  const person = await orgUser(platform, { orgId, roleId: low });
  const byKey = async (scopes: string[], roleId: string) => {
    const key = await apiKey(platform, { orgId, scopes, createdBy: orgAdmin.id });
    return (await platform.call('POST', `/users/${person.id}/role`, { apiKey: key, body: { roleId } })).status;
  };
  t.is(await byKey(['*'], more), 403);
  t.is(await byKey(['users:write'], more), 403);
  t.is(await byKey(['users:write', 'devices:read'], more), 200);
});

test('other modules take a member out with one call, which keeps the last administrator', async (t) => {
  const { orgAdmin, viewer, orgId, partner, partnerId } = await tenant(platform);
  const { body } = await invite(orgAdmin.token);
  const take = (tenantRef: { orgId: string | null; partnerId: string | null }, id: string) =>
    onPlatform(platform, (ctx) => ctx.use('users').removeMember(tenantRef, id));
  t.true(await take({ orgId, partnerId: null }, viewer.id));
  t.false(await take({ orgId, partnerId: null }, viewer.id));
  t.false(await take({ orgId, partnerId: null }, body.id), 'an invitation is no member');
  await t.throwsAsync(take({ orgId, partnerId: null }, orgAdmin.id), { message: /last administrator/ });
  await t.throwsAsync(take({ orgId: null, partnerId }, partner.id), { message: /last administrator/ });
  await until(async () => (await platform.call('GET', '/users/me', { token: viewer.token })).status === 401);
  t.is((await platform.audits({ orgId, action: 'user.remove' })).length, 1);
});
