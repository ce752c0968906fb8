/** Who may call what: every endpoint of tenancy as each kind of caller, on its own things and on another tenant's. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import {
  apiKey,
  type CallOptions,
  type ErrorBody,
  enrollAgent,
  enrollmentKey,
  organization,
  orgUser,
  partnerUser,
  sharedPlatform,
  systemUser,
  type Tenant,
  tenant,
} from '#test';

const platform = await sharedPlatform();
const mine = await tenant(platform);
const second = await organization(platform, mine.partnerId);
const { partnerId, partnerRoleId: roleId, orgId, siteId } = mine;
test.after.always(() => platform.stop());

const slug = () => `s-${randomUUID().slice(0, 8)}`;
const create = () => ({ name: 'New', slug: slug() });
/** @param theirs another tenant; the system's own turn removes its site. */
const calls = (theirs: Tenant): Record<string, [method: string, path: string, body?: object]> => ({
  'list partners': ['GET', '/orgs/partners'],
  'create a partner': ['POST', '/orgs/partners', create()],
  'read a partner': ['GET', `/orgs/partners/${partnerId}`],
  'change a partner': ['PATCH', `/orgs/partners/${partnerId}`, { plan: 'pro' }],
  'remove a partner': ['DELETE', `/orgs/partners/${randomUUID()}`],
  'read the own partner': ['GET', '/orgs/partners/me'],
  'change the own partner': ['PATCH', '/orgs/partners/me', { billingEmail: 'bill@example.com' }],
  'list what is reached': ['GET', '/orgs/'],
  'list organizations': ['GET', '/orgs/organizations'],
  'create an organization': ['POST', '/orgs/organizations', create()],
  'read an organization': ['GET', `/orgs/organizations/${orgId}`],
  'change an organization': ['PATCH', `/orgs/organizations/${orgId}`, { type: 'customer' }],
  'read the second organization': ['GET', `/orgs/organizations/${second.orgId}`],
  'read a foreign organization': ['GET', `/orgs/organizations/${theirs.orgId}`],
  'change a foreign organization': ['PATCH', `/orgs/organizations/${theirs.orgId}`, { type: 'customer' }],
  'remove an unknown organization': ['DELETE', `/orgs/organizations/${randomUUID()}`],
  'set the order': ['PATCH', '/orgs/organizations/order', { organizationOrder: [orgId] }],
  'list sites': ['GET', '/orgs/sites'],
  'list sites of an organization': ['GET', `/orgs/sites?organizationId=${orgId}`],
  'list sites of the second organization': ['GET', `/orgs/sites?orgId=${second.orgId}`],
  'list sites of a foreign organization': ['GET', `/orgs/sites?orgId=${theirs.orgId}`],
  'create a site': ['POST', '/orgs/sites', { orgId, name: 'New' }],
  'create a site elsewhere': ['POST', '/orgs/sites', { orgId: theirs.orgId, name: 'New' }],
  'read a site': ['GET', `/orgs/sites/${siteId}`],
  'change a site': ['PATCH', `/orgs/sites/${siteId}`, { name: 'Main' }],
  'read the second site': ['GET', `/orgs/sites/${second.siteId}`],
  'read a foreign site': ['GET', `/orgs/sites/${theirs.siteId}`],
  'change a foreign site': ['PATCH', `/orgs/sites/${theirs.siteId}`, { name: 'x' }],
  'remove a foreign site': ['DELETE', `/orgs/sites/${theirs.siteId}`],
  'remove an unknown site': ['DELETE', `/orgs/sites/${randomUUID()}`],
});
type Expected = Record<string, string>;

const DENIED = '403 Permission denied';
const ORG = '403 Access to this organization denied';
const SITE = '403 Access to this site denied';
const NO_ORG = '404 Organization not found';
const NO_SITE = '404 Site not found';
const NOT_THE_SYSTEMS = {
  'list partners': DENIED,
  'create a partner': DENIED,
  'read a partner': DENIED,
  'change a partner': DENIED,
  'remove a partner': DENIED,
};

async function answers(options: CallOptions): Promise<Expected> {
  const got: Expected = {};
  for (const [name, call] of Object.entries(calls(await tenant(platform)))) {
    const [method, path, body] = call;
    const answer = await platform.call<Partial<ErrorBody>>(method, path, { ...options, ...(body ? { body } : {}) });
    const { error } = answer.body;
    got[name] = error ? `${answer.status} ${error.message}` : String(answer.status);
  }
  return got;
}

const SYSTEM: Expected = {
  'list partners': '200',
  'create a partner': '201',
  'read a partner': '200',
  'change a partner': '200',
  'remove a partner': '404 Partner not found',
  'read the own partner': DENIED,
  'change the own partner': DENIED,
  'list what is reached': '200',
  'list organizations': '200',
  'create an organization': '400 partnerId is required for system scope',
  'read an organization': '200',
  'change an organization': '200',
  'read the second organization': '200',
  'read a foreign organization': '200',
  'change a foreign organization': '200',
  'remove an unknown organization': NO_ORG,
  'set the order': DENIED,
  'list sites': '200',
  'list sites of an organization': '200',
  'list sites of the second organization': '200',
  'list sites of a foreign organization': '200',
  'create a site': '201',
  'create a site elsewhere': '201',
  'read a site': '200',
  'change a site': '200',
  'read the second site': '200',
  'read a foreign site': '200',
  'change a foreign site': '200',
  'remove a foreign site': '200',
  'remove an unknown site': NO_SITE,
};
const PARTNER: Expected = {
  ...SYSTEM,
  ...NOT_THE_SYSTEMS,
  'read the own partner': '200',
  'change the own partner': '200',
  'create an organization': '201',
  'set the order': '200',
  'read a foreign organization': NO_ORG,
  'change a foreign organization': NO_ORG,
  'list sites of a foreign organization': ORG,
  'create a site elsewhere': ORG,
  'read a foreign site': SITE,
  'change a foreign site': SITE,
  'remove a foreign site': SITE,
};
const SELECTED: Expected = {
  ...PARTNER,
  'change the own partner': '403 Full partner organization access required',
  'read the second organization': NO_ORG,
  'list sites of the second organization': ORG,
  'read the second site': SITE,
};
const NONE: Expected = {
  ...SELECTED,
  'create an organization': '403 Access denied to this partner',
  'read an organization': NO_ORG,
  'change an organization': NO_ORG,
  'list sites of an organization': ORG,
  'create a site': ORG,
  'read a site': SITE,
  'change a site': SITE,
};
const ORGANIZATION: Expected = {
  ...SELECTED,
  'read the own partner': DENIED,
  'change the own partner': DENIED,
  'list organizations': DENIED,
  'create an organization': DENIED,
  'read an organization': DENIED,
  'change an organization': DENIED,
  'read the second organization': DENIED,
  'read a foreign organization': DENIED,
  'change a foreign organization': DENIED,
  'remove an unknown organization': DENIED,
  'set the order': DENIED,
};

test('a partner user with all organizations reaches these and no other partner', async (t) => {
  t.deepEqual(await answers(mine.partner), PARTNER);
});

test('a partner user with selected organizations reaches only these', async (t) => {
  const user = await partnerUser(platform, { partnerId, roleId, orgAccess: 'selected', orgIds: [orgId] });
  t.deepEqual(await answers(user), SELECTED);
});

test('a partner user with no organizations reads its partner and gets empty lists', async (t) => {
  const user = await partnerUser(platform, { partnerId, roleId, orgAccess: 'none', orgIds: [orgId] });
  t.deepEqual(await answers(user), NONE);
  for (const path of ['/orgs/', '/orgs/organizations', '/orgs/sites']) {
    t.like((await platform.call('GET', path, user)).body, { data: [] }, path);
  }
});

test('an organization user reaches the sites of its organization', async (t) => {
  t.deepEqual(await answers(mine.orgAdmin), ORGANIZATION);
});

test('a user limited to one site reads and changes that one, and makes none', async (t) => {
  const other = await platform.sql<{ id: string }>(
    `insert into sites (org_id, name) values ($1, 'Other') returning id`,
    [orgId],
  );
  const user = await orgUser(platform, { orgId, siteIds: [siteId] });
  t.deepEqual(await answers(user), {
    ...ORGANIZATION,
    'create a site': SITE,
    'remove an unknown site': SITE,
  });
  const read = await platform.call<ErrorBody>('GET', `/orgs/sites/${other[0]?.id}`, user);
  t.deepEqual([read.status, read.body.error.message], [403, 'Access to this site denied']);
  const list = await platform.call<{ data: { id: string }[] }>('GET', '/orgs/sites', user);
  t.deepEqual(
    list.body.data.map(({ id }) => id),
    [siteId],
  );
});

test('a user limited to device groups sees the names of the sites of its devices, and nothing else of sites', async (t) => {
  const { deviceId } = await enrollAgent(platform, { key: await enrollmentKey(platform, { orgId, siteId }) });
  await platform.sql(`insert into sites (org_id, name) values ($1, 'Without a device of the group')`, [orgId]);
  await platform.sql(`update sites set address = '{"city":"Graz"}', settings = '{"door":"code"}' where id = $1`, [
    siteId,
  ]);
  const [group] = await platform.sql<{ id: string }>(
    `insert into device_groups (org_id, name, type) values ($1, 'Theirs', 'static') returning id`,
    [orgId],
  );
  await platform.sql(
    `insert into device_group_members (group_id, device_id, org_id, added_by) values ($1, $2, $3, 'manual')`,
    [group?.id, deviceId, orgId],
  );
  const user = await orgUser(platform, { orgId, deviceGroupIds: [group?.id ?? ''] });
  const list = await platform.call<{ data: Record<string, unknown>[] }>('GET', '/orgs/sites', user);
  t.deepEqual(
    list.body.data.map(({ id }) => id),
    [siteId],
  );
  const outline = { id: siteId, orgId, address: null, contact: null, settings: {} };
  t.like(list.body.data[0], outline);
  const one = await platform.call<Record<string, unknown>>('GET', `/orgs/sites/${siteId}`, user);
  t.like(one.body, { ...outline, name: list.body.data[0]?.name });
  const changed = await platform.call<ErrorBody>('PATCH', `/orgs/sites/${siteId}`, { ...user, body: { name: 'Mine' } });
  t.is(changed.status, 403);
  const followed = await platform.call<{ data: object[] }>('GET', '/orgs/sites?updatedSince=beginning', user);
  t.deepEqual(followed.body.data, []);
  await platform.sql(`update sites set address = null, settings = '{}' where id = $1`, [siteId]);
});

test('a user limited to a device group without devices reaches no site', async (t) => {
  const user = await orgUser(platform, { orgId, deviceGroupIds: [randomUUID()] });
  t.like((await platform.call('GET', '/orgs/sites', user)).body, { data: [] });
  const read = await platform.call<ErrorBody>('GET', `/orgs/sites/${siteId}`, user);
  t.deepEqual([read.status, read.body.error.message], [403, 'Access to this site denied']);
  const made = await platform.call<ErrorBody>('POST', '/orgs/sites', { ...user, body: { orgId, name: 'New' } });
  t.deepEqual([made.status, made.body.error.code], [403, 'SITE_ACCESS_DENIED']);
});

test('an API key reaches what its organization does, with the scopes it has', async (t) => {
  const key = await apiKey(platform, { orgId, scopes: ['*'], createdBy: mine.orgAdmin.id });
  t.deepEqual(await answers({ apiKey: key }), ORGANIZATION);
  const reader = await apiKey(platform, { orgId, scopes: ['sites:read'], createdBy: mine.orgAdmin.id });
  const missing = '403 API key does not have required permissions';
  const got = await answers({ apiKey: reader });
  t.like(got, { 'read a site': '200', 'change a site': missing, 'list what is reached': missing });
});

test('a viewer reads what its scope reaches and changes nothing', async (t) => {
  const got = await answers(mine.viewer);
  for (const [name, answer] of Object.entries(got)) {
    const changes = /^(change|create|remove|set)/.test(name);
    t.is(answer, changes ? DENIED : (ORGANIZATION[name] ?? ''), name);
  }
});

test('a system user reaches everything', async (t) => {
  t.deepEqual(await answers(await systemUser(platform)), SYSTEM);
});
