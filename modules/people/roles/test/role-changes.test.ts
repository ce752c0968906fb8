/** Changing and removing roles. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { organization, orgUser, partnerUser, ROLES, systemUser, within } from '#test';
import type { RoleUsage } from '../models/role-usage.ts';
import { call, enrolled, make, pairs, place, platform, someone, words } from './arrange.ts';

/** Stands in for a module that refers to roles: pending invitations by role. */
const invitations = new Map<string, number>();
const usage: RoleUsage = {
  count: async (_ctx, roleId) => ({ name: 'invitations', count: invitations.get(roleId) ?? 0 }),
};
const { work } = platform.platform.tasks;
const contributions = work.contributions;
work.contributions = (slot) => (slot === 'roles.usage' ? [usage] : contributions(slot));

test('a change says what it changed, permissions by what came and went', async (t) => {
  const { orgId, orgAdmin, viewer } = await place();
  const role = await make(orgAdmin, 'Before', { permissions: pairs('sites:view', 'devices:view') });
  const { status, body } = await call('PATCH', `/${role.id}`, orgAdmin, {
    name: 'After',
    description: 'New',
    forceMfa: true,
    parentRoleId: ROLES.viewer,
    permissions: pairs('devices:view', 'alerts:update', 'alerts:create'),
  });
  t.is(status, 200);
  t.like(body, { id: role.id, name: 'After', description: 'New', forceMfa: true, parentRoleId: ROLES.viewer });
  t.deepEqual(words(body), ['alerts:create', 'alerts:update', 'devices:view']);
  const [entry] = await platform.audits({ action: 'role.update', orgId });
  t.like(entry, { actor_id: orgAdmin.id, resource_id: role.id });
  t.deepEqual(entry?.details, {
    changedFields: ['name', 'description', 'forceMfa', 'parentRoleId', 'permissions'],
    before: { name: 'Before', description: null, forceMfa: false, parentRoleId: null },
    after: { name: 'After', description: 'New', forceMfa: true, parentRoleId: ROLES.viewer },
    added: ['alerts:create', 'alerts:update'],
    removed: ['sites:view'],
  });
  t.deepEqual((await call('GET', `/${role.id}`, viewer)).body, body);
  const alone = await call('PATCH', `/${role.id}`, orgAdmin, { parentRoleId: null });
  t.like(alone.body, { name: 'After', parentRoleId: null, forceMfa: true });
  t.is(alone.body.permissions.length, 3, 'what is not named stays');
});

test('a change to what is already so is no change', async (t) => {
  const { orgId, orgAdmin } = await place();
  const role = await make(orgAdmin, 'Same', { permissions: pairs('sites:view') });
  const same = { name: 'Same', forceMfa: false, parentRoleId: null, permissions: pairs('sites:view') };
  const { status, body } = await call('PATCH', `/${role.id}`, orgAdmin, same);
  t.is(status, 200);
  t.deepEqual(body, role);
  t.deepEqual(await platform.audits({ action: 'role.update', orgId }), []);
  const renamed = await call('PATCH', `/${role.id}`, orgAdmin, { name: 'SAME' });
  t.is(renamed.body.name, 'SAME', 'a role may take its own name in another case');
});

test('a change without a field, or to a name in use, is refused', async (t) => {
  const { orgAdmin } = await place();
  const role = await make(orgAdmin, 'One');
  await make(orgAdmin, 'Two');
  t.like((await call('PATCH', `/${role.id}`, orgAdmin, {})).body.error, {
    code: 'NO_UPDATES',
    message: 'No updates provided',
  });
  for (const name of ['two', 'Technician']) {
    const { status, body } = await call('PATCH', `/${role.id}`, orgAdmin, { name });
    t.is(status, 409);
    t.like(body.error, { code: 'NAME_TAKEN', details: [{ path: 'name' }] });
  }
  const wrong = await call('PATCH', `/${role.id}`, orgAdmin, { permissions: pairs('*:*') });
  t.is(wrong.status, 400);
  t.like(wrong.body.error.details, [{ path: 'permissions.0' }]);
  t.is((await call('PATCH', `/${role.id}`, orgAdmin, { orgId: randomUUID() })).status, 400, 'a role stays where it is');
  t.is((await call('PATCH', `/${randomUUID()}`, orgAdmin, { name: 'x' })).status, 404);
});

test('built-in roles are neither changed nor removed, by anybody', async (t) => {
  const { orgAdmin, partner, partnerRoleId } = await place();
  const system = await systemUser(platform);
  for (const [by, id] of [
    [orgAdmin, ROLES.viewer],
    [partner, ROLES.viewer],
    [partner, partnerRoleId],
    [system, ROLES.systemAdmin],
    [system, partnerRoleId],
  ] as const) {
    const changed = await call('PATCH', `/${id}`, by, { name: 'Mine' });
    t.is(`${changed.status} ${changed.body.error.message}`, '403 Cannot modify system roles');
    const removed = await call('DELETE', `/${id}`, by);
    t.is(`${removed.status} ${removed.body.error.message}`, '403 Cannot delete system roles');
  }
});

test('another tenant neither changes nor removes a role, the partner above and the platform do', async (t) => {
  const [mine, theirs] = await Promise.all([place(), place()]);
  const role = await make(mine.orgAdmin, 'Ours');
  const ofPartner = await make(mine.partner, "The partner's");
  for (const [by, { id }] of [
    [theirs.orgAdmin, role],
    [theirs.partner, role],
    [theirs.partner, ofPartner],
    [mine.orgAdmin, ofPartner],
  ] as const) {
    t.is((await call('PATCH', `/${id}`, by, { name: 'Mine' })).status, 404);
    t.is((await call('DELETE', `/${id}`, by)).status, 404);
  }
  const changed = await call('PATCH', `/${role.id}`, mine.partner, {
    name: 'Renamed',
    permissions: pairs('sites:view'),
  });
  t.like(changed.body, { name: 'Renamed', orgId: mine.orgId });
  const system = await systemUser(platform);
  t.is((await call('PATCH', `/${role.id}`, system, { name: 'Once more' })).status, 200);
  const entries = await platform.audits({ action: 'role.update', orgId: mine.orgId });
  t.deepEqual(
    entries.map(({ actor_id }) => actor_id),
    [mine.partner.id, system.id],
    'the trail is that of the organization',
  );
  t.is((await call('DELETE', `/${ofPartner.id}`, mine.partner)).status, 200);
  t.is((await call('DELETE', `/${role.id}`, system)).status, 200);
});

test('no role inherits from itself, over however many others', async (t) => {
  const { orgAdmin } = await place();
  const top = await make(orgAdmin, 'Top');
  const middle = await make(orgAdmin, 'Middle', { parentRoleId: top.id });
  const bottom = await make(orgAdmin, 'Bottom', { parentRoleId: middle.id });
  for (const parentRoleId of [top.id, middle.id, bottom.id]) {
    const { status, body } = await call('PATCH', `/${top.id}`, orgAdmin, { parentRoleId });
    t.is(status, 400);
    t.like(body.error, {
      code: 'ROLE_CYCLE',
      message: 'Cannot set parent role: would create circular inheritance',
      details: [{ path: 'parentRoleId' }],
    });
  }
  t.is((await call('PATCH', `/${bottom.id}`, orgAdmin, { parentRoleId: top.id })).status, 200);
  t.is((await call('PATCH', `/${top.id}`, orgAdmin, { parentRoleId: ROLES.viewer })).status, 200);
});

test('whoever changes a role holds all that it grants, before and after', async (t) => {
  const at = await place();
  const { orgAdmin } = at;
  const editor = await someone(at, ['users:view', 'users:update', 'sites:view']);
  const more = await make(orgAdmin, 'More', { permissions: pairs('sites:view', 'billing:view') });
  const denied = async (id: string, body: object) => {
    const answer = await call('PATCH', `/${id}`, editor, body);
    t.is(answer.status, 403, JSON.stringify(body));
    return answer.body.error.details.map(({ message }) => message);
  };
  t.deepEqual(await denied(more.id, { name: 'Less' }), ['billing:view']);
  t.deepEqual(await denied(more.id, { permissions: [] }), ['billing:view'], 'nor takes away');
  const child = await make(orgAdmin, 'Child', { parentRoleId: more.id });
  t.deepEqual(await denied(child.id, { parentRoleId: null }), ['billing:view'], 'inherited ones count');
  t.deepEqual(await denied(editor.roleId, { permissions: pairs('users:view', 'users:update', 'sites:delete') }), [
    'sites:delete',
  ]);
  t.deepEqual(await denied(editor.roleId, { parentRoleId: more.id }), ['billing:view']);
  t.deepEqual(words((await call('GET', `/${editor.roleId}`, orgAdmin)).body), [
    'sites:view',
    'users:update',
    'users:view',
  ]);
  const equal = await make(orgAdmin, 'Equal', { permissions: pairs('sites:view') });
  t.is((await call('PATCH', `/${equal.id}`, editor, { permissions: pairs('users:view') })).status, 200);
});

test('a change of permissions counts for sessions that are open', async (t) => {
  const at = await place();
  const { orgAdmin } = at;
  const parent = await make(orgAdmin, 'Parent');
  const reader = await someone(at, ['users:view']);
  const role = `/${reader.roleId}`;
  const reads = async () => (await call('GET', '', reader)).status;
  /** A principal is remembered for a second; a change is told at once. */
  const becomes = (status: number) => within(1000, async () => (await reads()) === status);
  t.is(await reads(), 200);
  await call('PATCH', role, orgAdmin, { permissions: pairs('sites:view') });
  t.true(await becomes(403), 'taken away');
  await call('PATCH', role, orgAdmin, { parentRoleId: parent.id });
  await call('PATCH', `/${parent.id}`, orgAdmin, { permissions: pairs('users:view') });
  t.true(await becomes(200), 'given to the parent');
  await call('PATCH', role, orgAdmin, { parentRoleId: null });
  t.true(await becomes(403), 'no longer inherited');
  await call('PATCH', role, orgAdmin, { permissions: pairs('users:view') });
  t.true(await becomes(200), 'given');
  t.is(await reads(), 200);
  await platform.sql('update users set mfa_enabled = false, mfa_method = null where id = $1', [reader.id]);
  await call('PATCH', role, orgAdmin, { forceMfa: true });
  t.true(await becomes(428), 'now an authenticator is wanted');
});

test('a change may not leave a tenant without an administrator', async (t) => {
  const { orgId, orgAdmin, partner, partnerId, partnerRoleId } = await place();
  const admins = await make(orgAdmin, 'Admins', { parentRoleId: ROLES.orgAdmin });
  const below = await make(orgAdmin, 'Below', { parentRoleId: admins.id });
  await platform.sql('update organization_users set role_id = $2 where user_id = $1', [orgAdmin.id, below.id]);
  for (const [id, by] of [
    [admins.id, orgAdmin],
    [admins.id, partner],
    [below.id, orgAdmin],
  ] as const) {
    const { status, body } = await call('PATCH', `/${id}`, by, { parentRoleId: null });
    t.is(`${status} ${body.error.code}`, '409 LAST_ADMINISTRATOR');
  }
  t.is((await call('GET', `/${admins.id}`, orgAdmin)).body.parentRoleId, ROLES.orgAdmin);
  await orgUser(platform, { orgId });
  t.is((await call('PATCH', `/${admins.id}`, orgAdmin, { parentRoleId: null })).status, 200);
  const owners = await make(partner, 'Owners', { parentRoleId: partnerRoleId });
  await platform.sql('update partner_users set role_id = $2 where user_id = $1', [partner.id, owners.id]);
  const last = await call('PATCH', `/${owners.id}`, partner, { parentRoleId: null });
  t.is(`${last.status} ${last.body.error.code}`, '409 LAST_ADMINISTRATOR');
  await partnerUser(platform, { partnerId, roleId: partnerRoleId });
  await enrolled({ partnerId });
  t.is((await call('PATCH', `/${owners.id}`, partner, { parentRoleId: null })).status, 200);
});

test('a role that nothing refers to is removed, with its permissions and a trail', async (t) => {
  const { orgId, orgAdmin } = await place();
  const role = await make(orgAdmin, 'Short-lived', { permissions: pairs('sites:view') });
  const { status, body } = await call<object>('DELETE', `/${role.id}`, orgAdmin);
  t.is(status, 200);
  t.deepEqual(body, { success: true });
  t.is((await call('GET', `/${role.id}`, orgAdmin)).status, 404);
  t.is((await call('DELETE', `/${role.id}`, orgAdmin)).status, 404);
  t.deepEqual(await platform.sql('select 1 from role_permissions where role_id = $1', [role.id]), []);
  const [entry] = await platform.audits({ action: 'role.delete', orgId });
  t.like(entry, { actor_id: orgAdmin.id, resource_type: 'role', resource_id: role.id });
});

test('a role in use is not removed, and the answer counts what is in the way', async (t) => {
  const { orgId, orgAdmin, partner, partnerId } = await place();
  const role = await make(orgAdmin, 'Used');
  const refused = async (id: string, by = orgAdmin) => {
    const { status, body } = await call('DELETE', `/${id}`, by);
    t.is(`${status} ${body.error.code}`, '400 ROLE_IN_USE');
    return [body.error.message, ...(body.error.details as object[])];
  };
  const users = await Promise.all([
    orgUser(platform, { orgId, roleId: role.id }),
    orgUser(platform, { orgId, roleId: role.id }),
  ]);
  await platform.sql(`update users set status = 'disabled' where id = $1`, [users[0].id]);
  const child = await make(orgAdmin, 'Child', { parentRoleId: role.id });
  t.deepEqual(await refused(role.id), [
    'Cannot delete a role in use: users 2, children 1, invitations 0',
    { users: 2, children: 1, invitations: 0 },
  ]);
  await platform.sql('delete from organization_users where role_id = $1', [role.id]);
  t.deepEqual((await refused(role.id))[1], { users: 0, children: 1, invitations: 0 });
  t.is((await call('DELETE', `/${child.id}`, orgAdmin)).status, 200);
  invitations.set(role.id, 3);
  t.deepEqual((await refused(role.id))[1], { users: 0, children: 0, invitations: 3 });
  invitations.delete(role.id);
  t.is((await call('DELETE', `/${role.id}`, orgAdmin)).status, 200);
  const ofPartner = await make(partner, 'Used');
  await partnerUser(platform, { partnerId, roleId: ofPartner.id });
  t.deepEqual((await refused(ofPartner.id, partner))[1], { users: 1, children: 0, invitations: 0 });
});

test('a reference that the caller cannot count keeps the role too', async (t) => {
  const { orgAdmin, partnerId } = await place();
  const role = await make(orgAdmin, 'Used elsewhere');
  const { orgId } = await organization(platform, partnerId);
  await orgUser(platform, { orgId, roleId: role.id });
  const { status, body } = await call('DELETE', `/${role.id}`, orgAdmin);
  t.is(`${status} ${body.error.code}`, '400 ROLE_IN_USE');
  t.deepEqual(body.error.details as object[], [{ usedBy: 'organization_users' }]);
});
