/** How many organizations and devices a partner may have holds however many ask at once. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import {
  type ErrorBody,
  enrollmentBody,
  enrollmentKey,
  organization,
  partnerUser,
  startTestPlatform,
  systemUser,
  tenant,
} from '#test';

// Each machine enrolls from an address of its own: the limit by address is not the subject here.
const platform = await startTestPlatform({ TRUST_PROXY_HEADERS: 'true', DATABASE_POOL_SIZE: '20' });
test.after.always(() => platform.stop());

const create = (token: string, body: object = {}) =>
  platform.call<ErrorBody>('POST', '/orgs/organizations', {
    token,
    body: { name: 'Acme', slug: `org-${randomUUID().slice(0, 8)}`, ...body },
  });
let machines = 0;
const enroll = (key: string) => {
  machines += 1;
  const headers = { 'x-forwarded-for': `198.51.${Math.floor(machines / 250)}.${machines % 250}` };
  return platform.call<ErrorBody>('POST', '/agents/enroll', { body: enrollmentBody(key), headers });
};
const devicesOf = async (orgIds: string[]) => {
  const [row] = await platform.sql<{ n: number }>('select count(*)::int n from devices where org_id = any($1)', [
    orgIds,
  ]);
  return row?.n;
};
/** With one key they would take turns by the lock on the key. */
const manyKeys = (at: { orgId: string; siteId: string }) =>
  Promise.all(Array.from({ length: 10 }, () => enrollmentKey(platform, at)));
const count = (answers: { status: number }[], status: number) => answers.filter((one) => one.status === status).length;

test('twenty organizations asked for at once under a cap of five make five', async (t) => {
  const { partner, partnerId, partnerRoleId: roleId } = await tenant(platform);
  const few = await partnerUser(platform, { partnerId, roleId, orgAccess: 'selected' });
  const system = await systemUser(platform);
  // One is there from the start.
  await platform.sql('update partners set max_organizations = 6 where id = $1', [partnerId]);
  const askers = [partner, few, system];
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => create(askers[n % 3]?.token ?? '', { partnerId })),
  );
  t.is(count(answers, 201), 5);
  t.is(count(answers, 403), 15);
  const refused = answers.find(({ status }) => status === 403);
  t.like(refused?.body.error, {
    code: 'ORG_LIMIT_REACHED',
    message: 'The partner has reached its number of organizations',
    details: [{ current: 6, max: 6 } as object],
  });
  const [row] = await platform.sql<{ n: number }>('select count(*)::int n from organizations where partner_id = $1', [
    partnerId,
  ]);
  t.is(row?.n, 6);
});

test('a removed organization frees its place, and a cap below the number removes nothing', async (t) => {
  const { partner, partnerId, orgId } = await tenant(platform);
  await platform.sql('update partners set max_organizations = 1 where id = $1', [partnerId]);
  t.is((await create(partner.token)).status, 403);
  await platform.call('DELETE', `/orgs/organizations/${orgId}`, partner);
  t.is((await create(partner.token)).status, 201);
  const system = await systemUser(platform);
  const lowered = await platform.call('PATCH', `/orgs/partners/${partnerId}`, {
    token: system.token,
    body: { maxOrganizations: 0 },
  });
  t.is(lowered.status, 200);
  t.like((await platform.call('GET', '/orgs/organizations', partner)).body, { pagination: { total: 1 } });
  t.is((await create(partner.token)).status, 403);
});

test('a hundred machines enrolling at once fill an organization and no more', async (t) => {
  const { orgId, siteId } = await tenant(platform);
  await platform.sql('update organizations set max_devices = 12 where id = $1', [orgId]);
  const keys = await manyKeys({ orgId, siteId });
  const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => enroll(keys[n % keys.length] ?? '')));
  t.is(count(answers, 201), 12);
  t.is(count(answers, 403), 88);
  const refused = answers.find(({ status }) => status === 403);
  t.is(refused?.body.error.code, 'DEVICE_LIMIT_REACHED');
  t.deepEqual(refused?.body.error.details as object[], [{ currentDevices: 12, maxDevices: 12, level: 'organization' }]);
  t.is(await devicesOf([orgId]), 12);
  const uses = await platform.sql<{ n: number }>('select usage_count n from enrollment_keys where org_id = $1', [
    orgId,
  ]);
  t.is(
    uses.reduce((sum, { n }) => sum + n, 0),
    12,
    'a refused machine uses up no key',
  );
});

test('a hundred machines enrolling at once in five organizations fill their partner and no more', async (t) => {
  const { partnerId, orgId, siteId } = await tenant(platform);
  const others = await Promise.all([1, 2, 3, 4].map(() => organization(platform, partnerId)));
  const places = [{ orgId, siteId }, ...others];
  await platform.sql('update partners set max_devices = 15 where id = $1', [partnerId]);
  await platform.sql('update organizations set max_devices = 2 where id = $1', [orgId]);
  const keys = (await Promise.all(places.map(manyKeys))).flat().sort();
  const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => enroll(keys[n % keys.length] ?? '')));
  t.is(count(answers, 201), 15);
  t.is(await devicesOf(places.map((place) => place.orgId)), 15);
  t.true(((await devicesOf([orgId])) ?? 0) <= 2);
  const levels = answers
    .filter(({ status }) => status === 403)
    .map(({ body }) => (body.error.details[0] as { level?: string }).level);
  t.true(levels.includes('partner'));
});

test('devices of a removed organization do not count against the partner', async (t) => {
  const { partner, partnerId, orgId, siteId } = await tenant(platform);
  const second = await organization(platform, partnerId);
  await platform.sql('update partners set max_devices = 1 where id = $1', [partnerId]);
  t.is((await enroll(await enrollmentKey(platform, { orgId, siteId }))).status, 201);
  const key = await enrollmentKey(platform, second);
  t.is((await enroll(key)).status, 403);
  await platform.call('DELETE', `/orgs/organizations/${orgId}`, partner);
  t.is((await enroll(key)).status, 201);
});
