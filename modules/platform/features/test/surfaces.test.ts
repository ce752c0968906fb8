/** What people meet elsewhere while a module is off: filters, devices, roles; and that nothing they made is lost. */
import test from 'ava';
import { type ErrorBody, enrollAgent, enrollmentKey, organization, orgUser, startTestPlatform, tenant } from '#test';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

const switchOff = (token: string, path: string, body: object = { enabled: false, cascade: true }) =>
  platform.call('PATCH', `/modules/${path}`, { token, body });
const back = { enabled: true };

/** A partner with two organizations, a device in each whose custom field `rack` is `A`. */
async function racks() {
  const made = await tenant(platform);
  const second = await organization(platform, made.partnerId);
  const { token } = made.partner;
  const field = { partnerId: made.partnerId, name: 'Rack', fieldKey: 'rack', type: 'text' };
  t0(await platform.call('POST', '/custom-fields', { token, body: field }), 201);
  const ids: string[] = [];
  for (const at of [made, second]) {
    const { deviceId } = await enrollAgent(platform, { key: await enrollmentKey(platform, at) });
    const body = { customFields: { rack: 'A' } };
    t0(await platform.call('PATCH', `/devices/${deviceId}`, { token, body }), 200);
    ids.push(deviceId);
  }
  return { ...made, second: second.orgId, ids };
}
function t0(answer: { status: number; body: unknown }, status: number): void {
  if (answer.status !== status) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
}
const conditions = {
  operator: 'AND',
  conditions: [{ field: 'custom.rack', operator: 'equals', value: 'A' }],
};

const linux = { operator: 'AND', conditions: [{ field: 'osType', operator: 'equals', value: 'linux' }] };

test('a field of a module that is off finds no device there, and is no field where nobody has it', async (t) => {
  const { partner, orgAdmin, orgId, ids } = await racks();
  const preview = async (token: string) =>
    (
      await platform.call<ErrorBody & { data: { totalCount: number; sample?: object[] } }>('POST', '/filters/preview', {
        token,
        body: { conditions },
      })
    ).body;
  t.is((await preview(partner.token)).data.totalCount, 2);
  await switchOff(partner.token, `organizations/${orgId}/custom-fields`);
  t.is((await preview(partner.token)).data.totalCount, 1);
  t.truthy((await preview(orgAdmin.token)).error);
  const write = { token: partner.token, body: { customFields: { rack: 'B' } } };
  t.is((await platform.call('PATCH', `/devices/${ids[0]}`, write)).status, 400);
  t.is((await platform.call('PATCH', `/devices/${ids[1]}`, write)).status, 200);
  await switchOff(partner.token, `organizations/${orgId}/custom-fields`, back);
  t.is((await preview(partner.token)).data.totalCount, 1, 'the other one has another value now');
});

test('a saved filter in the list of devices finds nothing where filters are off', async (t) => {
  const { partner, orgId, second } = await racks();
  const saved = await platform.call<{ id: string }>('POST', '/filters', {
    token: partner.token,
    body: { orgId: second, name: 'Racks', conditions: linux },
  });
  t0(saved, 201);
  const listed = async () =>
    (
      await platform.call<{ devices: object[] }>('GET', `/devices?filterId=${saved.body.id}`, {
        token: partner.token,
      })
    ).body.devices.length;
  t.is(await listed(), 2);
  await switchOff(partner.token, `organizations/${orgId}/filters`);
  t.is(await listed(), 1);
});

test('what a module adds to a device is left out for its organization, and there again afterwards', async (t) => {
  const { partner, orgId, ids } = await racks();
  const groups = await platform.call<{ data: { id: string } }>('POST', '/groups', {
    token: partner.token,
    body: { orgId, name: 'By hand', type: 'static' },
  });
  t0(groups, 201);
  const read = async (id = '') =>
    (await platform.call<{ data: object }>('GET', `/devices/${id}`, { token: partner.token })).body.data;
  t.true('groups' in (await read(ids[0])));
  await switchOff(partner.token, `organizations/${orgId}/device-groups`);
  t.false('groups' in (await read(ids[0])));
  t.true('groups' in (await read(ids[1])));
  await switchOff(partner.token, `organizations/${orgId}/device-groups`, back);
  const kept = await platform.call('GET', `/groups/${groups.body.data.id}`, { token: partner.token });
  t.is(kept.status, 200, 'what was made is kept');
});

test('a permission that only modules ask for that are off is not offered, and stays in roles that have it', async (t) => {
  const { partner, orgAdmin, orgId, second } = await racks();
  const there = await orgUser(platform, { orgId: second });
  const tags = platform.platform.modules.find(({ module }) => module.name === 'tags')?.module;
  tags?.permissions.push('automations:write');
  t.teardown(() => tags?.permissions.pop());
  const offered = async (token: string) =>
    (
      await platform.call<{ data: { resource: string; action: string }[] }>('GET', '/permissions/catalog', { token })
    ).body.data
      .filter(({ resource }) => resource === 'automations')
      .map(({ action }) => action);
  const made = await platform.call<{ id?: string; data?: { id: string } }>('POST', '/roles', {
    token: orgAdmin.token,
    body: { name: 'Keeper', permissions: [{ resource: 'automations', action: 'create' }] },
  });
  t0(made, 201);
  const all = await offered(orgAdmin.token);
  t.true(all.includes('create') && all.includes('update'));
  await switchOff(partner.token, `organizations/${orgId}/tags`);
  t.deepEqual(
    await offered(orgAdmin.token),
    all.filter((action) => !['create', 'update'].includes(action)),
  );
  t.true((await offered(there.token)).includes('create'));
  const [kept] = await platform.sql<{ n: number }>(
    `select count(*)::int as n from role_permissions rp join permissions p on p.id = rp.permission_id
     join roles r on r.id = rp.role_id where r.org_id = $1 and p.resource = 'automations'`,
    [orgId],
  );
  t.is(kept?.n, 1);
});

test('an organization that demands its identity provider goes on refusing passwords while single sign-on is off', async (t) => {
  const { partner, orgAdmin, orgId } = await tenant(platform);
  await platform.sql(
    `insert into sso_providers (org_id, name, type, issuer, client_id, client_secret, scopes, status, enforce_sso)
     values ($1, 'P', 'oidc', 'https://login.example.com', 'x', 'x', '{openid}', 'active', true)`,
    [orgId],
  );
  await switchOff(partner.token, `organizations/${orgId}/sso`);
  t.is((await platform.call('GET', `/sso/check/${orgId}`)).status, 404);
  const { work } = platform.platform.tasks;
  const rules = work.contributions('identity.login-rule', {
    ...{ kind: 'organization' as const, orgId, orgIds: [orgId], partnerId: null, ownerPartnerId: null },
    ...{ allOrgs: false, siteIds: null, groupIds: null, deviceId: null },
  });
  t.is(rules.length, 1);
  t.is((await platform.call('GET', '/sso/providers', { token: orgAdmin.token })).status, 403);
});
