/** What people limited to a site or to device groups see of the trail: what is about their devices, and their own acts. */
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import { type ErrorBody, enrollAgent, enrollmentKey, orgUser, type Person, sharedPlatform, tenant, until } from '#test';
import { record } from './outbox.ts';

interface Listed {
  data: { id: string; resource: { name: string | null } }[];
}
const platform = await sharedPlatform();
test.after.always(() => platform.stop());

const get = <B>(path: string, { token }: Person) => platform.call<B & ErrorBody>('GET', path, { token });
const names = async (person: Person, path = '/audit-logs/logs') =>
  (await get<Listed>(path, person)).body.data.map(({ resource }) => resource.name).sort();

/** An organization with a device in each of two sites, a group of the second, and an entry about each of these. */
async function world() {
  const at = await tenant(platform);
  const { orgId, siteId, orgAdmin } = at;
  const [second] = await platform.sql<{ id: string }>(
    `insert into sites (org_id, name) values ($1, 'Second') returning id`,
    [orgId],
  );
  const secondId = second?.id ?? '';
  const device = async (site: string) =>
    (await enrollAgent(platform, { key: await enrollmentKey(platform, { orgId, siteId: site }) })).deviceId;
  const [here, there] = [await device(siteId), await device(secondId)];
  const group = await platform.call<{ data: { id: string } }>('POST', '/groups', {
    token: orgAdmin.token,
    body: { name: 'Chosen', type: 'static', deviceIds: [there] },
  });
  const groupId = group.body.data.id;
  const ofSite = await orgUser(platform, { orgId, siteIds: [secondId] });
  const ofGroup = await orgUser(platform, { orgId, deviceGroupIds: [groupId] });
  await platform.settle();
  const about = (resourceName: string, resourceId: string) => ({
    ...{ action: 'test.limits', resourceName, resourceId },
    details: { words: 'needle' },
  });
  await record(platform, orgId, [
    about('device here', here),
    about('device there', there),
    about('site here', siteId),
    about('site there', secondId),
    about('group', groupId),
    about('organization', orgId),
    { ...about('act of the site person', orgId), actorType: 'user', actorId: ofSite.id },
    { ...about('act of the group person', orgId), actorType: 'user', actorId: ofGroup.id },
  ]);
  return { ...at, ofSite, ofGroup };
}
const OF_SITE = ['act of the site person', 'device there', 'site there'];
const OF_GROUP = ['act of the group person', 'device there', 'group'];

test('lists, search, single entries, reports and counts keep to what the caller reaches', async (t) => {
  const { ofSite, ofGroup, orgAdmin } = await world();
  const ours = '?action=test.limits';
  t.is((await names(orgAdmin, `/audit-logs/logs${ours}`)).length, 8);
  for (const [person, expected, acts] of [
    [ofSite, OF_SITE, 1],
    // The second is the administrator's, who made the group.
    [ofGroup, OF_GROUP, 2],
  ] as const) {
    t.deepEqual(await names(person, `/audit-logs/logs${ours}`), [...expected]);
    t.deepEqual(await names(person, '/audit/search?q=needle'), [...expected]);
    const flat = await get<{ pagination: { total: number } }>(`/audit-logs${ours}&limit=1`, person);
    t.is(flat.body.pagination.total, expected.length);
    const activity = await get<{ totalEvents: number }>('/audit-logs/reports/user-activity', person);
    t.is(activity.body.totalEvents, acts);
  }
  for (const { id, resource } of (await get<Listed>(`/audit-logs/logs${ours}`, orgAdmin)).body.data) {
    const { status } = await get(`/audit-logs/logs/${id}`, ofSite);
    t.is(status, OF_SITE.includes(resource.name ?? '') ? 200 : 404, resource.name ?? '');
  }
});

test('exports hold what the caller reaches, and limited people see their own exports only', async (t) => {
  const { ofSite, ofGroup, orgAdmin, orgId } = await world();
  const ask = async ({ token }: Person) =>
    (
      await platform.call<{ jobId: string }>('POST', '/audit-logs/exports', {
        token,
        body: { filters: { action: 'test.limits' } },
      })
    ).body.jobId;
  const [all, own] = [await ask(orgAdmin), await ask(ofSite)];
  await platform.runJobs();
  const response = await fetch(`${platform.url}/api/v1/audit-logs/exports/${own}/download`, {
    headers: { authorization: `Bearer ${ofSite.token}` },
  });
  const lines = gunzipSync(Buffer.from(await response.arrayBuffer()))
    .toString()
    .trimEnd()
    .split('\n');
  t.deepEqual(lines.map((line) => (JSON.parse(line) as { resourceName: string }).resourceName).sort(), OF_SITE);
  const at = (id: string, person: Person) => get(`/audit-logs/exports/${id}`, person).then(({ status }) => status);
  t.deepEqual(
    [await at(all, ofSite), await at(own, ofSite), await at(own, ofGroup), await at(own, orgAdmin)],
    [...[404, 200, 404, 200]],
  );
  const listed = await get<{ data: { id: string }[] }>('/audit-logs/exports', ofSite);
  t.deepEqual(
    listed.body.data.map(({ id }) => id),
    [own],
  );
  const csv = await platform.call<string>('GET', '/audit-logs/export?action=test.limits', { token: ofGroup.token });
  for (const name of ['device here', 'site here', 'act of the site person']) t.false(csv.body.includes(name), name);
  t.true(csv.body.includes('device there'));
  // After a change of limits the export is out of reach as well.
  await platform.sql('update organization_users set site_ids = $2 where user_id = $1', [ofSite.id, [orgId]]);
  await until(async () => (await at(own, ofSite)) === 404);
});

test('what concerns the whole chain is refused to limited people: exports with proof, verification, retention', async (t) => {
  const { ofSite, ofGroup, orgAdmin } = await world();
  for (const { token } of [ofSite, ofGroup]) {
    for (const [method, path, body] of [
      ['GET', '/audit-logs/chain-export', undefined],
      ['GET', '/audit-logs/verify', undefined],
      ['PUT', '/audit-logs/retention-policy', { retentionDays: 30 }],
    ] as const) {
      const answer = await platform.call<ErrorBody>(method, path, { token, ...(body ? { body } : {}) });
      t.deepEqual([answer.status, answer.body.error?.code], [403, 'TARGET_OUT_OF_SCOPE'], path);
    }
  }
  const policy = await get<{ data: { retentionDays: number } }>('/audit-logs/retention-policy', orgAdmin);
  t.not(policy.body.data.retentionDays, 30);
});
