/** Definitions that change or go while devices hold their values, and filters and groups name them. */
import test from 'ava';
import { type ErrorBody, organization, orgUser, startTestPlatform, tenant } from '#test';
import { enroll } from '../../devices/test/arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

type Answer = {
  data: { id: string; invalidCount: number | null; usageCount?: number };
  id: string;
  clearedDevices?: number;
} & ErrorBody;
const call = (method: string, path: string, token: string, body?: object) =>
  platform.call<Answer>(method, path, { token, ...(body ? { body } : {}) });
const choices = (...values: string[]) => ({ choices: values.map((value) => ({ value, label: value.toUpperCase() })) });

/** A partner's dropdown `tier`, and devices of two organizations that hold these choices. */
async function held(...values: string[]) {
  const made = await tenant(platform);
  const other = await organization(platform, made.partnerId);
  const { token } = made.partner;
  const field = await call('POST', '/custom-fields', token, {
    ...{ partnerId: made.partnerId, name: 'Tier', fieldKey: 'tier', type: 'dropdown', options: choices('a', 'b', 'c') },
  });
  for (const [n, value] of values.entries()) {
    const { deviceId } = await enroll(platform, n % 2 ? other : made, { hostname: `h${n}` });
    await platform.sql('update devices set custom_fields = $2 where id = $1', [deviceId, { tier: value, note: 'x' }]);
  }
  const stored = async () =>
    (
      await platform.sql<{ tier: string; note: string }>(
        `select custom_fields ->> 'tier' as tier, custom_fields ->> 'note' as note from devices
         where org_id = any($1::uuid[]) order by hostname`,
        [[made.orgId, other.orgId]],
      )
    ).map(({ tier, note }) => `${tier} ${note}`);
  return { ...made, otherOrgId: other.orgId, token, path: `/custom-fields/${field.body.data.id}`, stored };
}

test('an unused choice can be removed, a used one only with force, and invalid values are counted', async (t) => {
  const { token, path, stored } = await held('a', 'b', 'b');
  const unused = await call('PATCH', path, token, { options: choices('a', 'b') });
  t.like(unused, { status: 200, body: { data: { invalidCount: 0 } } });
  const used = await call('PATCH', path, token, { options: choices('a') });
  t.deepEqual([used.status, used.body.error.code], [409, 'IN_USE']);
  t.deepEqual(used.body.error.details, [{ devices: 2 }] as never);
  const forced = await call('PATCH', path, token, { options: choices('a'), force: true });
  t.is(forced.body.data.invalidCount, 2);
  t.is((await call('PATCH', path, token, { name: 'Level' })).body.data.invalidCount, 2);
  t.is((await call('PATCH', path, token, { deviceTypes: ['windows'] })).body.data.invalidCount, 3);
  t.deepEqual(await stored(), ['a x', 'b x', 'b x']);
});

test('the usage that a limited user sees counts the devices within reach', async (t) => {
  const { token, path, orgId, siteId } = await held('a', 'b', 'c');
  const elsewhere = await platform.call<{ id: string }>('POST', '/orgs/sites', { token, body: { orgId, name: 'Two' } });
  const usageAt = async (siteIds: string[]) =>
    (await call('GET', path, (await orgUser(platform, { orgId, siteIds })).token)).body.data.usageCount;
  t.is((await call('GET', path, token)).body.data.usageCount, 3);
  t.is(await usageAt([siteId]), 2);
  t.is(await usageAt([elsewhere.body.id]), 0);
});

test('devices get the replacement of a removed choice, and keep all other values', async (t) => {
  const { token, path, stored } = await held('a', 'b', 'c');
  for (const [mapTo, at] of [
    [{ a: 'b' }, 'mapTo.a'],
    [{ c: 'd' }, 'mapTo.c'],
    [{ nothing: 'a' }, 'mapTo.nothing'],
  ] as const) {
    const refused = await call('PATCH', path, token, { options: choices('a', 'b'), mapTo });
    t.deepEqual([refused.status, refused.body.error.details.map((detail) => detail.path)], [400, [at]]);
  }
  t.is((await call('PATCH', path, token, { mapTo: { c: 'a' } })).status, 400);
  const partly = await call('PATCH', path, token, { options: choices('a'), mapTo: { c: 'a' } });
  t.is(partly.body.error.code, 'IN_USE', 'nothing is said of b');
  const mapped = await call('PATCH', path, token, { options: choices('a', 'b'), mapTo: { c: 'a' } });
  t.is(mapped.status, 200);
  await platform.runJobs();
  t.deepEqual(await stored(), ['a x', 'b x', 'a x']);
  const back = await call('PATCH', path, token, { options: choices('a'), mapTo: { b: 'a' } });
  t.is(back.status, 200);
  await call('PATCH', path, token, { options: choices('a', 'b') });
  await platform.runJobs();
  t.deepEqual(await stored(), ['a x', 'b x', 'a x'], 'a choice that is back is left alone');
});

test('a field that filters or groups refer to is removed only with force, and the error lists them', async (t) => {
  const { token, path, orgId, otherOrgId } = await held('a');
  const rule = { field: 'custom.tier', operator: 'equals', value: 'a' };
  const nested = { operator: 'AND', conditions: [{ operator: 'OR', conditions: [rule] }] };
  const filter = await call('POST', '/filters', token, { orgId, name: 'By tier', conditions: nested });
  await call('POST', '/filters', token, {
    ...{ orgId, name: 'Other', conditions: { operator: 'AND', conditions: [{ ...rule, field: 'hostname' }] } },
  });
  const group = await call('POST', '/groups', token, {
    ...{ orgId: otherOrgId, name: 'Of tier', type: 'dynamic', filter: nested },
  });
  const refused = await call('DELETE', `${path}?confirm=tier`, token);
  t.deepEqual([refused.status, refused.body.error.code], [409, 'IN_USE']);
  const [{ references } = { references: [] }] = refused.body.error.details as unknown as { references: object[] }[];
  t.deepEqual(
    references.toSorted((a, b) => JSON.stringify(b).localeCompare(JSON.stringify(a))),
    [
      { type: 'filter', id: filter.body.id, name: 'By tier' },
      { type: 'device_group', id: group.body.data.id, name: 'Of tier' },
    ],
  );
  t.is((await call('DELETE', `${path}?force=true`, token)).status, 409, 'values have to be confirmed all the same');
  t.is((await call('DELETE', `${path}?confirm=tier&force=true`, token)).body.clearedDevices, 1);
  const [entry] = (await platform.audits({ action: 'custom_field.delete' })).filter(({ resource_id }) =>
    path.endsWith(String(resource_id)),
  );
  t.is((entry?.details as { references: object[] } | undefined)?.references.length, 2);
});
