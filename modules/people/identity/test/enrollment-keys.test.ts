/** Enrollment keys through the API, and as enrolling uses them. */
import test from 'ava';
import { type Context, EVERYWHERE, NOBODY } from '#core';
import { runUnitOfWork } from '#core/work';
import { type ErrorBody, organization, orgUser, startTestPlatform, tenant } from '#test';

const platform = await startTestPlatform({ ENROLLMENT_KEY_DEFAULT_TTL_MINUTES: '30' });
test.after.always(() => platform.stop());

interface Key {
  id: string;
  key: string;
  expiresAt: string;
}
const work = <T>(run: (ctx: Context) => Promise<T>) => {
  const { work: services, log } = platform.platform.tasks;
  return runUnitOfWork(services, { actor: NOBODY, scope: EVERYWHERE, requestId: 'test', log, role: 'platform' }, run);
};

test('a key is made for an organization, rotated and removed, and each step is audited', async (t) => {
  const { orgAdmin, orgId, siteId } = await tenant(platform);
  const { token } = orgAdmin;
  const before = Date.now();
  const made = await platform.call<Key>('POST', '/enrollment-keys', { token, body: { name: 'Lab', siteId } });
  t.is(made.status, 201);
  t.like(made.body, { orgId, siteId, name: 'Lab', usageCount: 0, maxUsage: 1, createdBy: orgAdmin.id });
  t.regex(made.body.key, /^[0-9a-f]{64}$/);
  const minutes = (Date.parse(made.body.expiresAt) - before) / 60_000;
  t.true(minutes >= 29.9 && minutes < 31);
  const { id } = made.body;
  t.false('key' in (await platform.call<object>('GET', `/enrollment-keys/${id}`, { token })).body);
  await work(async (ctx) => t.true(await ctx.use('identity').countEnrollment(id)));
  const rotated = await platform.call<Key>('POST', `/enrollment-keys/${id}/rotate`, {
    token,
    body: { maxUsage: null },
  });
  t.like(rotated.body, { id, usageCount: 0, maxUsage: null, expiresAt: made.body.expiresAt });
  t.not(rotated.body.key, made.body.key);
  const again = await platform.call<Key>('POST', `/enrollment-keys/${id}/rotate`, { token });
  t.like(again.body, { maxUsage: null, expiresAt: made.body.expiresAt });
  t.deepEqual((await platform.call('DELETE', `/enrollment-keys/${id}`, { token })).body, { success: true });
  t.is((await platform.call('GET', `/enrollment-keys/${id}`, { token })).status, 404);
  t.deepEqual(
    (await platform.audits({ orgId })).map((row) => [row.action, row.resource_id]),
    ['create', 'rotate', 'rotate', 'delete'].map((step) => [`enrollment_key.${step}`, id]),
  );
});

test('the raw key is never stored, and only the newest one is found', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const { token } = orgAdmin;
  const { body } = await platform.call<Key>('POST', '/enrollment-keys', { token, body: { name: 'k' } });
  const [row] = await platform.sql<{ all: string }>('select k::text as all from enrollment_keys k where id = $1', [
    body.id,
  ]);
  t.false(row?.all.includes(body.key));
  const found = await work((ctx) => ctx.use('identity').lockEnrollmentKey(body.key));
  t.like(found, { id: body.id, orgId, siteId: null, exhausted: false, expired: false });
  await platform.call('POST', `/enrollment-keys/${body.id}/rotate`, { token });
  t.is(await work((ctx) => ctx.use('identity').lockEnrollmentKey(body.key)), null);
});

test('however many enroll at once, a key counts no more than its uses and none past its time', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { token } = orgAdmin;
  const make = async (body: object) =>
    (await platform.call<Key>('POST', '/enrollment-keys', { token, body: { name: 'k', ...body } })).body;
  const { id, key } = await make({ maxUsage: 3 });
  const counted = await Promise.all(
    Array.from({ length: 10 }, () =>
      work(async (ctx) => {
        const locked = await ctx.use('identity').lockEnrollmentKey(key);
        return locked ? ctx.use('identity').countEnrollment(locked.id) : false;
      }),
    ),
  );
  t.is(counted.filter(Boolean).length, 3);
  t.like(await work((ctx) => ctx.use('identity').lockEnrollmentKey(key)), { id, usageCount: 3, exhausted: true });
  const late = await make({ expiresAt: '2020-01-01T00:00:00Z' });
  t.false(await work((ctx) => ctx.use('identity').countEnrollment(late.id)));
  const list = async (expired: string) =>
    (await platform.call<{ data: Key[] }>('GET', `/enrollment-keys?expired=${expired}`, { token })).body.data;
  t.deepEqual(
    (await list('true')).map((row) => row.id),
    [late.id],
  );
  t.deepEqual(
    (await list('false')).map((row) => row.id),
    [id],
  );
});

test('partner callers name an organization of theirs, and sites must lie in it', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  const other = await organization(platform, mine.partnerId);
  // The kit's Partner Admin has no authenticator yet, so this partner user has a role without Force MFA.
  await platform.sql('update roles set force_mfa = false where id = any($1)', [
    [mine.partnerRoleId, theirs.partnerRoleId],
  ]);
  const { token } = mine.partner;
  const make = (body: object) => platform.call<Key & ErrorBody>('POST', '/enrollment-keys', { token, body });
  const unnamed = await make({ name: 'k' });
  t.is(unnamed.status, 400);
  t.is(unnamed.body.error.code, 'ORG_REQUIRED');
  t.is((await make({ name: 'k', orgId: theirs.orgId })).status, 403);
  t.is((await make({ name: 'k', orgId: mine.orgId, siteId: other.siteId })).status, 400);
  t.is((await make({ name: 'k', orgId: mine.orgId, siteId: theirs.siteId })).status, 404);
  const { body } = await make({ name: 'k', orgId: other.orgId });
  const foreign = theirs.partner.token;
  t.is((await platform.call('GET', `/enrollment-keys/${body.id}`, { token: foreign })).status, 404);
  t.is((await platform.call('DELETE', `/enrollment-keys/${body.id}`, { token: foreign })).status, 404);
  t.is((await platform.call('POST', `/enrollment-keys/${body.id}/rotate`, { token: foreign })).status, 404);
});

test('a viewer, and a user limited to another site, make no key; faults name their path', async (t) => {
  const { viewer, orgAdmin, orgId, siteId } = await tenant(platform);
  const make = (token: string, body: object) => platform.call<ErrorBody>('POST', '/enrollment-keys', { token, body });
  t.is((await make(viewer.token, { name: 'k' })).status, 403);
  const limited = await orgUser(platform, { orgId, siteIds: [siteId] });
  t.is((await make(limited.token, { name: 'k' })).status, 403);
  t.is((await make(limited.token, { name: 'k', siteId })).status, 201);
  const bad = await make(orgAdmin.token, { maxUsage: 100_001, expiresAt: 'soon', extra: 1 });
  t.deepEqual(bad.body.error.details.map((detail) => detail.path).sort(), ['expiresAt', 'extra', 'maxUsage', 'name']);
  t.is((await platform.sql('select 1 from enrollment_keys where org_id = $1', [orgId])).length, 1);
});
