/** Organizations through the API: who reaches what, the cap of a partner, and the order. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { type ErrorBody, organization, partnerUser, sharedPlatform, systemUser, tenant } from '#test';

interface Org {
  id: string;
  name: string;
  settings: Record<string, unknown>;
}
const platform = await sharedPlatform();
test.after.always(() => platform.stop());

const slug = () => `org-${randomUUID().slice(0, 8)}`;
const create = (token: string, body: object = {}) =>
  platform.call<Org & ErrorBody>('POST', '/orgs/organizations', {
    token,
    body: { name: 'Acme', slug: slug(), ...body },
  });

test('a partner creates, reads, changes and removes an organization, and each step is audited', async (t) => {
  const { partner, partnerId, orgId } = await tenant(platform);
  const { token } = partner;
  const made = await create(token, { name: ' Acme ', contractStart: '2026-01-01T00:00:00.000Z' });
  t.is(made.status, 201);
  t.like(made.body, { name: 'Acme', partnerId, type: 'customer', status: 'active', settings: {}, deletedAt: null });
  const path = `/orgs/organizations/${orgId}`;
  await platform.call('PATCH', path, { token, body: { settings: { theme: { dark: true, size: 2 }, old: 1 } } });
  const changed = await platform.call<Org>('PATCH', path, {
    token,
    body: { status: 'trial', settings: { theme: { size: 3 }, old: null } },
  });
  t.like(changed.body, { status: 'trial', settings: { theme: { dark: true, size: 3 } } });
  t.deepEqual(Object.keys(changed.body.settings), ['theme']);
  t.deepEqual((await platform.call('DELETE', path, { token })).body, { success: true });
  const gone = await platform.call<ErrorBody>('GET', path, { token });
  t.is(gone.status, 404);
  t.is(gone.body.error.message, 'Organization not found');
  const [sites] = await platform.sql<{ n: number }>('select count(*)::int n from sites where org_id = $1', [orgId]);
  t.is(sites?.n, 1, 'sites are not cascaded');
  const created = await platform.audits({ orgId: made.body.id });
  t.deepEqual(created[0]?.details, { partnerId, status: 'active', type: 'customer' });
  const later = await platform.audits({ orgId });
  t.deepEqual(
    later.map((row) => [row.action, row.details]),
    [
      [
        'organization.update',
        {
          changedFields: ['settings'],
          before: { settings: { theme: null, old: null } },
          after: { settings: { theme: { dark: true, size: 2 }, old: 1 } },
        },
      ],
      [
        'organization.update',
        {
          changedFields: ['status', 'settings'],
          before: { status: 'active', settings: { theme: { size: 2 }, old: 1 } },
          after: { status: 'trial', settings: { theme: { size: 3 }, old: null } },
        },
      ],
      ['organization.delete', {}],
    ],
  );
});

test('a foreign organization is hidden from a partner, and another partner may not be named', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  const { token } = theirs.partner;
  const path = `/orgs/organizations/${mine.orgId}`;
  t.is((await platform.call('GET', path, { token })).status, 404);
  t.is((await platform.call('PATCH', path, { token, body: { name: 'x' } })).status, 404);
  t.is((await platform.call('DELETE', path, { token })).status, 404);
  const named = await create(token, { partnerId: mine.partnerId });
  t.is(named.status, 403);
  t.is(named.body.error.message, 'Access denied to this partner');
  t.is((await platform.call('GET', `/orgs/organizations?partnerId=${mine.partnerId}`, { token })).status, 403);
  const [row] = await platform.sql<{ name: string }>('select name from organizations where id = $1', [mine.orgId]);
  t.not(row?.name, 'x');
});

test('a user with selected access reaches only these, and gains the organization it creates', async (t) => {
  const { partnerId, partnerRoleId, orgId } = await tenant(platform);
  const other = await organization(platform, partnerId);
  const user = await partnerUser(platform, {
    partnerId,
    roleId: partnerRoleId,
    orgAccess: 'selected',
    orgIds: [orgId],
  });
  const { token } = user;
  t.is((await platform.call('GET', `/orgs/organizations/${orgId}`, { token })).status, 200);
  t.is((await platform.call('GET', `/orgs/organizations/${other.orgId}`, { token })).status, 404);
  const made = await create(token);
  t.is(made.status, 201);
  const [row] = await platform.sql<{ org_ids: string[] }>('select org_ids from partner_users where user_id = $1', [
    user.id,
  ]);
  t.deepEqual(row?.org_ids, [orgId, made.body.id]);
  const none = await partnerUser(platform, { partnerId, roleId: partnerRoleId, orgAccess: 'none' });
  t.is((await create(none.token)).status, 403);
  t.deepEqual((await platform.call('GET', '/orgs/', { token: none.token })).body, { data: [] });
});

test('system scope must name the partner, and reaches every organization', async (t) => {
  const { partnerId, orgId } = await tenant(platform);
  const { token } = await systemUser(platform);
  const unnamed = await create(token);
  t.is(unnamed.status, 400);
  t.is(unnamed.body.error.message, 'partnerId is required for system scope');
  const unknown = await create(token, { partnerId: randomUUID() });
  t.is(unknown.body.error.message, 'Partner not found');
  t.is((await create(token, { partnerId })).status, 201);
  t.is((await platform.call('GET', `/orgs/organizations/${orgId}`, { token })).status, 200);
  const list = await platform.call('GET', `/orgs/organizations?partnerId=${partnerId}&limit=1`, { token });
  t.like(list.body, { pagination: { page: 1, limit: 1, total: 2 } });
});

test('an organization user sees its own organization in /orgs/ and no other route of organizations', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const { token } = orgAdmin;
  const list = await platform.call<{ data: Org[] }>('GET', '/orgs/', { token });
  t.deepEqual(
    list.body.data.map((org) => org.id),
    [orgId],
  );
  t.false('settings' in (list.body.data[0] ?? {}));
  t.is((await platform.call('GET', '/orgs/organizations', { token })).status, 403);
  t.is((await platform.call('PATCH', `/orgs/organizations/${orgId}`, { token, body: { name: 'x' } })).status, 403);
  t.is((await create(token)).status, 403);
});

test('a slug is unique within a partner and free in another, also after its organization was removed', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  const taken = slug();
  const [one, two] = await Promise.all([
    create(mine.partner.token, { slug: taken }),
    create(mine.partner.token, { slug: taken }),
  ]);
  t.deepEqual([one.status, two.status].sort(), [201, 409]);
  t.is((one.status === 409 ? one : two).body.error.code, 'NAME_TAKEN');
  t.is((await create(theirs.partner.token, { slug: taken })).status, 201);
  await platform.sql('update organizations set deleted_at = now() where slug = $1', [taken]);
  t.is((await create(mine.partner.token, { slug: taken })).status, 201);
});

test('the order drops what is unknown, appends what was left out, and is kept in the settings', async (t) => {
  const { partner, partnerId, partnerRoleId, orgId } = await tenant(platform);
  const second = await organization(platform, partnerId);
  const third = await organization(platform, partnerId);
  const order = (token: string, ids: string[]) =>
    platform.call<{ organizationOrder: string[] }>('PATCH', '/orgs/organizations/order', {
      token,
      body: { organizationOrder: ids },
    });
  const asked = await order(partner.token, [third.orgId, randomUUID(), third.orgId]);
  t.deepEqual(asked.body.organizationOrder, [third.orgId, orgId, second.orgId]);
  const some = await partnerUser(platform, {
    partnerId,
    roleId: partnerRoleId,
    orgAccess: 'selected',
    orgIds: [third.orgId, second.orgId],
  });
  const limited = await order(some.token, [second.orgId, orgId]);
  t.deepEqual(limited.body.organizationOrder, [second.orgId, third.orgId], 'the unreached one stays unseen');
  const full = await platform.call<Org>('GET', '/orgs/partners/me', { token: partner.token });
  t.deepEqual(full.body.settings.organizationOrder, [second.orgId, orgId, third.orgId], 'and keeps its place');
  const own = await platform.call<Org>('GET', '/orgs/partners/me', { token: some.token });
  t.deepEqual(own.body.settings.organizationOrder, [second.orgId, third.orgId]);
});

test('bad input names its paths, an empty change is refused, and the partner cannot be changed', async (t) => {
  const { partner, partnerId, orgId } = await tenant(platform);
  const { token } = partner;
  const bad = await create(token, { name: '', slug: 'Not A Slug', type: 'x', maxDevices: -1 });
  t.is(bad.status, 400);
  t.deepEqual(bad.body.error.details.map((detail) => detail.path).sort(), ['maxDevices', 'name', 'slug', 'type']);
  const path = `/orgs/organizations/${orgId}`;
  const empty = await platform.call<ErrorBody>('PATCH', path, { token, body: {} });
  t.is(empty.body.error.message, 'No updates provided');
  t.is((await platform.call('PATCH', path, { token, body: { partnerId } })).status, 400);
});
