/** Making roles, from nothing and from others. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { apiKey, orgUser, partnerUser, ROLES, systemUser } from '#test';
import { call, enrolled, make, pairs, place, platform, someone, words } from './arrange.ts';

test('a role is made in the scope of the caller, and the trail says by whom and with what', async (t) => {
  const { orgId, orgAdmin, partnerId, partner } = await place();
  const { status, body } = await call('POST', '', orgAdmin, {
    name: '  Night shift ',
    description: 'After six',
    permissions: pairs('devices:view', 'alerts:update'),
    parentRoleId: ROLES.viewer,
    forceMfa: true,
  });
  t.is(status, 201);
  t.like(body, {
    name: 'Night shift',
    description: 'After six',
    scope: 'organization',
    orgId,
    partnerId: null,
    isSystem: false,
    forceMfa: true,
    parentRoleId: ROLES.viewer,
    userCount: 0,
  });
  t.deepEqual(words(body), ['alerts:update', 'devices:view']);
  t.deepEqual((await call('GET', `/${body.id}`, orgAdmin)).body, body);
  const [entry] = await platform.audits({ action: 'role.create', orgId });
  t.like(entry, { actor_id: orgAdmin.id, resource_type: 'role', resource_id: body.id, result: 'success' });
  t.deepEqual(entry?.details, {
    permissions: ['alerts:update', 'devices:view'],
    parentRoleId: ROLES.viewer,
    forceMfa: true,
  });
  t.like(await make(partner, 'Of the partner'), {
    scope: 'partner',
    partnerId,
    orgId: null,
    parentRoleId: null,
    forceMfa: false,
    description: null,
    permissions: [],
  });
});

test('partner and system callers name another tenant; nobody names one out of reach', async (t) => {
  const [mine, theirs] = await Promise.all([place(), place()]);
  const system = await systemUser(platform);
  t.like(await make(mine.partner, 'One', { orgId: mine.orgId }), { scope: 'organization', orgId: mine.orgId });
  t.like(await make(system, 'Two', { orgId: mine.orgId }), { scope: 'organization', orgId: mine.orgId });
  t.like(await make(system, 'Three', { partnerId: mine.partnerId }), { scope: 'partner', partnerId: mine.partnerId });
  const attempt = async (by: { token: string }, named: object) => {
    const { status, body } = await call('POST', '', by, { name: 'Never', ...named });
    return `${status} ${body.error.message}`;
  };
  t.is(await attempt(mine.partner, { orgId: theirs.orgId }), '403 Access to this organization denied');
  t.is(await attempt(mine.partner, { partnerId: theirs.partnerId }), '403 Access denied to this partner');
  t.is(await attempt(mine.orgAdmin, { orgId: theirs.orgId }), '403 Access to this organization denied');
  t.is(await attempt(mine.orgAdmin, { partnerId: mine.partnerId }), '403 Access to this organization denied');
  t.is(await attempt(system, {}), '403 Partner or organization context required');
  t.is(await attempt(system, { orgId: randomUUID() }), '404 Organization not found');
  t.is(await attempt(system, { partnerId: randomUUID() }), '404 Partner not found');
  const both = { orgId: mine.orgId, partnerId: mine.partnerId };
  t.is((await call('POST', '', mine.partner, { name: 'Never', ...both })).status, 400);
});

test('role management wants a verified second factor, the permission, a person and the whole tenant', async (t) => {
  const at = await place();
  const { orgId, siteId, orgAdmin } = at;
  const role = await make(orgAdmin, 'Subject');
  const all = ['users:view', 'users:create', 'users:update', 'users:delete'];
  const [unverified, reader, limited] = await Promise.all([
    orgUser(platform, { orgId, mfa: false }),
    someone(at, ['users:view']),
    orgUser(platform, { orgId, siteIds: [siteId] }),
  ]);
  const exact = await apiKey(platform, {
    orgId,
    scopes: ['users:read', 'users:write', 'users:delete'],
    createdBy: orgAdmin.id,
  });
  const writes = [
    ['POST', '', { name: 'New' }],
    ['PATCH', `/${role.id}`, { name: 'Changed' }],
    ['POST', `/${role.id}/clone`, { name: 'Copy' }],
    ['DELETE', `/${role.id}`],
  ] as const;
  for (const [method, path, body] of writes) {
    t.like((await call(method, path, unverified, body)).body.error, { code: 'MFA_VERIFICATION_REQUIRED' });
    t.is((await call(method, path, reader, body)).status, 403);
    t.like((await call(method, path, limited, body)).body.error, { code: 'SITE_ACCESS_DENIED' });
    const byKey = await platform.call(method, `/roles${path}`, { apiKey: exact, ...(body ? { body } : {}) });
    t.is(byKey.status, 401, 'keys are not even looked at');
  }
  const one = await someone(at, all);
  for (const [method, path, body] of writes) {
    t.true((await call(method, path, one, body)).status < 300, `${method} ${path}`);
  }
});

test('a body that does not fit is refused with the path', async (t) => {
  const { orgAdmin } = await place();
  const paths = async (body: object) => {
    const answer = await call('POST', '', orgAdmin, body);
    t.is(answer.status, 400, JSON.stringify(body));
    t.is(answer.body.error.code, 'VALIDATION_ERROR');
    return answer.body.error.details.map(({ path }) => path);
  };
  t.deepEqual(await paths({}), ['name']);
  t.deepEqual(await paths({ name: ' ' }), ['name']);
  t.deepEqual(await paths({ name: 'x'.repeat(101) }), ['name']);
  t.deepEqual(await paths({ name: 'a\0b' }), ['name']);
  t.deepEqual(await paths({ name: 'x', description: 'a\0b' }), ['description']);
  t.deepEqual(await paths({ name: 'x', description: 'x'.repeat(1001) }), ['description']);
  t.deepEqual(await paths({ name: 'x', parentRoleId: 'none' }), ['parentRoleId']);
  t.deepEqual(await paths({ name: 'x', scope: 'system' }), ['scope']);
  t.deepEqual(await paths({ name: 'x', isSystem: true }), ['isSystem']);
  t.deepEqual(await paths({ name: 'x', permissions: pairs('sites:view', 'sites:view') }), ['permissions.1']);
  t.deepEqual(
    await paths({ name: 'x', permissions: pairs('sites:view', '*:*', 'devices:read', 'users:view', 'nothing:view') }),
    ['permissions.1', 'permissions.2', 'permissions.4'],
  );
  await make(orgAdmin, 'x'.repeat(100), { description: 'x'.repeat(1000) });
});

test('a name is used once in a tenant, whatever its case and form, and not one of a built-in role', async (t) => {
  const [mine, theirs] = await Promise.all([place(), place()]);
  await make(mine.orgAdmin, 'Caf\u00e9');
  const refused = async (by: { token: string }, name: string, more: object = {}) => {
    const { status, body } = await call('POST', '', by, { name, ...more });
    t.is(status, 409, name);
    t.like(body.error, { code: 'NAME_TAKEN', details: [{ path: 'name' }] });
  };
  await refused(mine.orgAdmin, 'CAF\u00c9');
  await refused(mine.orgAdmin, ' cafe\u0301 ');
  await refused(mine.orgAdmin, 'organization admin');
  await refused(mine.orgAdmin, 'VIEWER');
  await refused(mine.partner, 'viewer', { orgId: mine.orgId });
  await refused(mine.partner, 'partner admin');
  await make(theirs.orgAdmin, 'Caf\u00e9');
  await make(mine.partner, 'Caf\u00e9');
  await make(mine.partner, 'Viewer');
});

test('nobody makes a role that grants more than they hold, by permissions or by a parent', async (t) => {
  const at = await place();
  const maker = await someone(at, ['users:create', 'users:view', 'sites:view']);
  const inherited = await make(at.orgAdmin, 'Much', { permissions: pairs('billing:update') });
  const denied = async (body: object) => {
    const answer = await call('POST', '', maker, { name: 'More', ...body });
    t.is(answer.status, 403);
    return answer.body.error.details.map(({ message }) => message);
  };
  t.deepEqual(await denied({ permissions: pairs('sites:view', 'sites:delete') }), ['sites:delete']);
  t.deepEqual(await denied({ parentRoleId: inherited.id }), ['billing:update']);
  t.deepEqual(await denied({ parentRoleId: ROLES.orgAdmin }), ['*:*']);
  const [left] = await platform.sql('select 1 from roles where org_id = $1 and name = $2', [at.orgId, 'More']);
  t.is(left, undefined);
  await make(maker, 'As much', { permissions: pairs('sites:view'), parentRoleId: maker.roleId });
});

test('a parent is a role of the same tenant and scope', async (t) => {
  const [mine, theirs] = await Promise.all([place(), place()]);
  const [ofPartner, ofOther] = await Promise.all([
    make(mine.partner, 'Of the partner'),
    make(theirs.orgAdmin, 'Of another'),
  ]);
  const refused = async (by: { token: string }, parentRoleId: string, more: object = {}) => {
    const { status, body } = await call('POST', '', by, { name: 'Child', parentRoleId, ...more });
    t.is(status, 404);
    t.like(body.error, { message: 'Role not found', details: [{ path: 'parentRoleId' }] });
  };
  await refused(mine.orgAdmin, ofPartner.id);
  await refused(mine.orgAdmin, ofOther.id);
  await refused(mine.orgAdmin, mine.partnerRoleId);
  await refused(mine.orgAdmin, ROLES.systemAdmin);
  await refused(mine.partner, ROLES.viewer);
  await refused(mine.partner, ofPartner.id, { orgId: mine.orgId });
  const system = await systemUser(platform);
  await refused(system, ofOther.id, { orgId: mine.orgId });
  await make(mine.partner, 'Child', { parentRoleId: mine.partnerRoleId });
  await make(system, 'Child', { parentRoleId: ROLES.viewer, orgId: mine.orgId });
});

test('a chain of inheriting roles has at most 10 roles', async (t) => {
  const { orgAdmin } = await place();
  let parentRoleId = ROLES.viewer;
  for (let n = 2; n <= 10; n += 1) parentRoleId = (await make(orgAdmin, `Level ${n}`, { parentRoleId })).id;
  const { status, body } = await call('POST', '', orgAdmin, { name: 'Level 11', parentRoleId });
  t.is(status, 400);
  t.like(body.error, { code: 'ROLE_TOO_DEEP', details: [{ path: 'parentRoleId' }] });
  const above = await make(orgAdmin, 'Above');
  const bottom = await make(orgAdmin, 'Bottom', { parentRoleId: above.id });
  t.is((await call('PATCH', `/${above.id}`, orgAdmin, { parentRoleId })).status, 400, 'its child would be too deep');
  t.is((await call('PATCH', `/${bottom.id}`, orgAdmin, { parentRoleId })).status, 400);
});

test('a tenant has at most 200 roles of its own', async (t) => {
  const { orgId, orgAdmin, partner } = await place();
  const first = await make(orgAdmin, 'First');
  await platform.sql(
    `insert into roles (org_id, scope, name) select $1, 'organization', 'Role ' || n from generate_series(1, 199) n`,
    [orgId],
  );
  const { status, body } = await call('POST', '', orgAdmin, { name: 'One more' });
  t.is(status, 409);
  t.is(body.error.code, 'ROLE_LIMIT_REACHED');
  t.is((await call('POST', `/${first.id}/clone`, orgAdmin, { name: 'One more' })).status, 409);
  await make(partner, 'One more');
  t.is((await call('DELETE', `/${first.id}`, orgAdmin)).status, 200);
  await make(orgAdmin, 'One more');
});

test('a clone grants what its source does, without being built in', async (t) => {
  const { orgId, orgAdmin } = await place();
  const parent = await make(orgAdmin, 'Parent', { permissions: pairs('sites:view') });
  const source = await make(orgAdmin, 'Source', {
    description: 'What it is for',
    permissions: pairs('devices:view', 'devices:execute'),
    parentRoleId: parent.id,
    forceMfa: true,
  });
  const copy = await call('POST', `/${source.id}/clone`, orgAdmin, { name: 'Copy' });
  t.is(copy.status, 201);
  t.like(copy.body, {
    name: 'Copy',
    description: 'What it is for',
    orgId,
    scope: 'organization',
    isSystem: false,
    forceMfa: true,
    parentRoleId: parent.id,
  });
  t.deepEqual(words(copy.body), ['devices:execute', 'devices:view']);
  const [entry] = await platform.audits({ action: 'role.clone', orgId });
  t.like(entry, { actor_id: orgAdmin.id, resource_id: copy.body.id });
  t.like(entry?.details, {
    sourceRoleId: source.id,
    sourceRoleName: 'Source',
    permissions: ['devices:execute', 'devices:view'],
  });
  const viewer = await call('POST', `/${ROLES.viewer}/clone`, orgAdmin, { name: 'My viewer' });
  t.like(viewer.body, { isSystem: false, orgId });
  t.is(viewer.body.permissions.length, 12);
  t.is((await call('POST', `/${source.id}/clone`, orgAdmin, { name: 'viewer' })).status, 409);
  t.is((await call('POST', `/${source.id}/clone`, orgAdmin, {})).status, 400);
});

test('in place of full access, a clone gets every pair of the catalog', async (t) => {
  const { orgAdmin, partner, partnerRoleId } = await place();
  const admin = await call('POST', `/${ROLES.orgAdmin}/clone`, orgAdmin, { name: 'Almost everything' });
  t.is(admin.body.permissions.length, 60);
  t.false(words(admin.body).includes('*:*'));
  const ofPartner = await call('POST', `/${partnerRoleId}/clone`, partner, { name: 'Almost everything' });
  t.like(ofPartner.body, { forceMfa: true, isSystem: false, scope: 'partner' });
  t.is(ofPartner.body.permissions.length, 60);
});

test('a clone in another tenant takes over what its source inherits', async (t) => {
  const [mine, theirs] = await Promise.all([place(), place()]);
  const parent = await make(mine.orgAdmin, 'Parent', { permissions: pairs('sites:view', 'users:view') });
  const source = await make(mine.orgAdmin, 'Source', {
    permissions: pairs('devices:view', 'users:view'),
    parentRoleId: parent.id,
  });
  const flat = await call('POST', `/${source.id}/clone`, mine.partner, { name: 'Source' });
  t.like(flat.body, { scope: 'partner', partnerId: mine.partnerId, parentRoleId: null });
  t.deepEqual(words(flat.body), ['devices:view', 'sites:view', 'users:view']);
  const system = await systemUser(platform);
  const across = await call('POST', `/${source.id}/clone`, system, { name: 'Source', orgId: theirs.orgId });
  t.like(across.body, { orgId: theirs.orgId, parentRoleId: null });
  const under = await make(mine.orgAdmin, 'Under admin', { parentRoleId: ROLES.orgAdmin });
  const kept = await call('POST', `/${under.id}/clone`, system, { name: 'Under admin', orgId: theirs.orgId });
  t.is(kept.body.parentRoleId, ROLES.orgAdmin, 'a built-in parent exists there too');
  const everything = await call('POST', `/${under.id}/clone`, mine.partner, { name: 'Under admin' });
  t.is(everything.body.permissions.length, 60, 'inherited full access becomes the catalog');
  for (const person of [theirs.orgAdmin, theirs.partner]) {
    t.is((await call('POST', `/${source.id}/clone`, person, { name: 'Stolen' })).status, 404);
  }
  t.is((await call('POST', `/${mine.partnerRoleId}/clone`, mine.orgAdmin, { name: 'Stolen' })).status, 404);
});

test('nobody clones a role that grants more than they hold', async (t) => {
  const at = await place();
  const maker = await someone(at, ['users:create', 'users:view']);
  for (const id of [ROLES.viewer, ROLES.orgAdmin]) {
    t.is((await call('POST', `/${id}/clone`, maker, { name: 'More' })).status, 403);
  }
  t.is((await call('POST', `/${maker.roleId}/clone`, maker, { name: 'As much' })).status, 201);
});

test('a partner user may hold a role of the partner that is no full access', async (t) => {
  const { partner, partnerId, orgId } = await place();
  const role = await make(partner, 'Managers of people', {
    permissions: pairs('users:view', 'users:create', 'devices:view'),
  });
  const manager = await partnerUser(platform, { partnerId, roleId: role.id });
  await enrolled({ partnerId });
  await make(manager, 'Own', { permissions: pairs('devices:view'), orgId });
  t.is((await call('POST', '', manager, { name: 'More', permissions: pairs('sites:view'), orgId })).status, 403);
});
