/** Custom fields through the API. */
import test from 'ava';
import { organization, orgUser, partnerUser } from '#test';
import { call, create, keys, place, platform } from './stand-in.ts';

test.after.always(() => platform.stop());

test('a field is created, listed in order, changed and removed, and each step is audited', async (t) => {
  const { orgAdmin, orgId } = await place();
  const { token } = orgAdmin;
  const made = await create(token, 'rack', { sortOrder: 2, defaultValue: '5', description: 'where it stands' });
  t.is(made.status, 201);
  t.like(made.body.data, {
    orgId,
    partnerId: null,
    inherited: false,
    defaultValue: '5',
    editableBy: 'both',
    options: {},
  });
  await create(token, 'aisle', { sortOrder: 1, type: 'number', deviceTypes: ['linux'] });
  t.deepEqual(await keys(token), ['aisle', 'rack']);
  t.deepEqual(await keys(token, 'type=number&deviceType=linux'), ['aisle']);
  t.deepEqual(await keys(token, 'deviceType=macos&search=RAC'), ['rack']);
  const path = `/${made.body.data.id}`;
  t.like((await call('PATCH', path, token, { name: 'Rack', defaultValue: null })).body.data, {
    name: 'Rack',
    defaultValue: null,
  });
  t.like((await call('GET', path, token)).body.data, { usageCount: 0 });
  t.deepEqual((await call('DELETE', path, token)).body, { success: true, clearedDevices: 0 } as object);
  t.is((await call('GET', path, token)).status, 404);
  const seen = (await platform.audits({ orgId })).filter((row) => row.resource_id === made.body.data.id);
  t.like(seen[1]?.details, {
    changedFields: ['name', 'defaultValue'],
    after: { name: 'Rack', defaultValue: null },
  });
  t.deepEqual(
    seen.map((row) => [row.action, row.resource_type, row.details]),
    [
      ['custom_field.create', 'custom_field', { fieldKey: 'rack', type: 'text' }],
      ['custom_field.update', 'custom_field', seen[1]?.details],
      ['custom_field.delete', 'custom_field', { fieldKey: 'rack', clearedDevices: 0 }],
    ],
  );
});

test("a partner's field is inherited by its organizations, which may not write it", async (t) => {
  const { partner, partnerId, orgAdmin, partnerRoleId, orgId } = await place();
  const made = await create(partner.token, 'contract', { partnerId });
  t.like(made.body.data, { orgId: null, partnerId, inherited: false });
  const path = `/${made.body.data.id}`;
  t.true((await call('GET', path, orgAdmin.token)).body.data.inherited);
  t.is((await call('PATCH', path, orgAdmin.token, { name: 'Mine' })).status, 403);
  t.is((await call('DELETE', path, orgAdmin.token)).status, 403);
  const some = await partnerUser(platform, {
    partnerId,
    roleId: partnerRoleId,
    orgAccess: 'selected',
    orgIds: [orgId],
  });
  await platform.sql(`update users set mfa_enabled = true, mfa_method = 'totp'`);
  t.is(
    (await create(some.token, 'more', { partnerId })).body.error.message,
    'Full partner organization access required',
  );
  t.is((await create(partner.token, 'x', { partnerId, orgId })).body.error.code, 'OWNER_REQUIRED');
  t.is((await create(partner.token, 'x')).body.error.code, 'OWNER_REQUIRED');
});

test("another tenant gets 404, and another tenant's id as owner is rejected", async (t) => {
  const [mine, theirs] = [await place(), await place()];
  const made = await create(mine.orgAdmin.token, 'secretive');
  const path = `/${made.body.data.id}`;
  const { token } = theirs.partner;
  t.is((await call('GET', path, token)).status, 404);
  t.is((await call('PATCH', path, token, { name: 'x' })).status, 404);
  t.is((await call('DELETE', path, token)).status, 404);
  t.deepEqual(await keys(token), []);
  t.is((await create(token, 'x', { orgId: mine.orgId })).status, 403);
  t.is((await create(token, 'x', { partnerId: mine.partnerId })).status, 403);
});

test('writing requires the permission, the second factor, and reach beyond single sites', async (t) => {
  const { viewer, orgId, siteId } = await place();
  t.is((await create(viewer.token, 'x')).body.error.code, 'FORBIDDEN');
  const weak = await orgUser(platform, { orgId, mfa: false });
  t.is((await create(weak.token, 'x')).body.error.code, 'MFA_VERIFICATION_REQUIRED');
  const narrow = await orgUser(platform, { orgId, siteIds: [siteId] });
  t.is((await create(narrow.token, 'x')).body.error.code, 'TARGET_OUT_OF_SCOPE');
});

test('a partner and its organizations cannot use the same key, in any order or at once', async (t) => {
  const { partner, partnerId, orgAdmin } = await place();
  const other = await organization(platform, partnerId);
  const second = await orgUser(platform, { orgId: other.orgId });
  t.is((await create(orgAdmin.token, 'owner_tag')).status, 201);
  t.is((await create(orgAdmin.token, 'owner_tag')).body.error.code, 'KEY_TAKEN');
  t.is((await create(second.token, 'owner_tag')).status, 201, 'two organizations may use the same key');
  t.is((await create(partner.token, 'owner_tag', { partnerId })).body.error.code, 'KEY_TAKEN');
  t.is((await create(partner.token, 'floor', { partnerId })).status, 201);
  t.is((await create(orgAdmin.token, 'floor')).body.error.code, 'KEY_TAKEN');
  for (const key of ['k1', 'k2', 'k3']) {
    const both = await Promise.all([create(orgAdmin.token, key), create(partner.token, key, { partnerId })]);
    t.deepEqual(both.map((answer) => answer.status).sort(), [201, 409]);
  }
});

test('an owner has at most 100 fields, also when several are created at once', async (t) => {
  const { orgAdmin, orgId } = await place();
  await platform.sql(
    `insert into custom_fields (org_id, name, field_key, type) select $1, 'F', 'f' || n, 'text' from generate_series(1, 98) n`,
    [orgId],
  );
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((key) => create(orgAdmin.token, key)));
  t.deepEqual(answers.map((answer) => answer.status).sort(), [201, 201, 409, 409]);
});

test('an invalid definition is rejected with the path of each error, and key and type never change', async (t) => {
  const { orgAdmin } = await place();
  const { token } = orgAdmin;
  const paths = async (more: object) =>
    (await create(token, 'bad', more)).body.error.details.map((detail) => detail.path).sort();
  t.deepEqual(await paths({ fieldKey: '__proto__', type: 'colour' }), ['fieldKey', 'type']);
  t.deepEqual(await paths({ type: 'dropdown' }), ['options.choices']);
  t.deepEqual(await paths({ type: 'number', options: { min: 5, max: 1 } }), ['options.min']);
  t.deepEqual(await paths({ type: 'number', options: { max: 1 }, defaultValue: 2 }), ['defaultValue']);
  t.deepEqual(await paths({ options: { pattern: '(?=a)b' } }), ['options.pattern']);
  const { id } = (await create(token, 'good')).body.data;
  t.is((await call('PATCH', `/${id}`, token, { type: 'number' })).body.error.code, 'IMMUTABLE_FIELD');
  t.is((await call('PATCH', `/${id}`, token, { fieldKey: 'other' })).body.error.code, 'IMMUTABLE_FIELD');
  t.is((await call('PATCH', `/${id}`, token, {})).body.error.message, 'No updates provided');
});
