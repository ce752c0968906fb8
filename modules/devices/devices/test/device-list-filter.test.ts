/** GET /devices with a saved filter. */
import test from 'ava';
import { type ErrorBody, orgUser, startTestPlatform, tenant } from '#test';
import { enroll } from './arrange.ts';

interface Listed {
  devices: { hostname: string }[];
  data: { hostname: string }[];
  nextCursor: string | null;
  total: number;
  pagination: object;
}
const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const list = (token: string, query: string) => platform.call<Listed & ErrorBody>('GET', `/devices?${query}`, { token });
const save = async (token: string, ...conditions: object[]) => {
  const body = { name: 'Filter', conditions: { operator: 'AND', conditions } };
  return (await platform.call<{ id: string }>('POST', '/filters', { token, body })).body.id;
};

test('a saved filter narrows the list in both forms, together with all other parameters', async (t) => {
  const { orgAdmin, orgId, siteId } = await tenant(platform);
  for (const n of [1, 2, 3, 4, 5]) await enroll(platform, { orgId, siteId }, { hostname: `web-${n}` });
  for (const n of [1, 2]) await enroll(platform, { orgId, siteId }, { hostname: `db-${n}`, osType: 'windows' });
  const { token } = orgAdmin;
  const web = await save(token, { field: 'hostname', operator: 'contains', value: 'WEB' });
  const paged = await list(token, `filterId=${web}&page=2&limit=2`);
  t.deepEqual(
    paged.body.data.map((device) => device.hostname),
    ['web-3', 'web-4'],
  );
  t.deepEqual(paged.body.pagination, { page: 2, limit: 2, total: 5 });
  const walked: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body }: { body: Listed } = await list(token, `filterId=${web}&limit=2&includeTotal=true&cursor=${cursor}`);
    t.is(body.total, 5);
    walked.push(...body.devices.map((device) => device.hostname));
    cursor = body.nextCursor;
  }
  t.deepEqual(walked, ['web-1', 'web-2', 'web-3', 'web-4', 'web-5']);
  // The filter uses the same tables as the search, the status and the order of the list.
  const mixed = await save(
    token,
    { field: 'status', operator: 'equals', value: 'online' },
    { field: 'hardware.cpuCores', operator: 'isNull' },
    {
      operator: 'OR',
      conditions: [
        { field: 'osType', operator: 'equals', value: 'windows' },
        { field: 'tags', operator: 'isNotEmpty' },
      ],
    },
  );
  const all = await list(token, `filterId=${mixed}&search=db-&status=online&sort=lastSeen&orgIds=${orgId}`);
  t.deepEqual(all.body.devices.map((device) => device.hostname).sort(), ['db-1', 'db-2']);
  t.is((await list(token, `filterId=${mixed}&search=db-2&page=1`)).body.data.length, 1);
});

test('a filter out of reach is not found, and its result stays within reach', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  await enroll(platform, mine, { hostname: 'mine' });
  await enroll(platform, theirs, { hostname: 'theirs' });
  const id = await save(mine.orgAdmin.token, { field: 'osType', operator: 'equals', value: 'linux' });
  const refused = await list(theirs.partner.token, `filterId=${id}`);
  t.deepEqual([refused.status, refused.body.error.message], [404, 'Filter not found']);
  t.deepEqual(
    (await list(mine.partner.token, `filterId=${id}`)).body.devices.map((device) => device.hostname),
    ['mine'],
  );
  const elsewhere = await orgUser(platform, { orgId: mine.orgId, siteIds: [theirs.siteId] });
  t.deepEqual((await list(elsewhere.token, `filterId=${id}`)).body.devices, []);
});

test('decommissioned devices are included when the filter names their status', async (t) => {
  const { orgAdmin, orgId, siteId } = await tenant(platform);
  const { deviceId } = await enroll(platform, { orgId, siteId }, { hostname: 'gone' });
  await enroll(platform, { orgId, siteId }, { hostname: 'here' });
  await platform.sql(`update devices set lifecycle = 'decommissioned', decommissioned_at = now() where id = $1`, [
    deviceId,
  ]);
  const names = async (...conditions: object[]) => {
    const { body } = await list(orgAdmin.token, `filterId=${await save(orgAdmin.token, ...conditions)}`);
    return body.devices.map((device) => device.hostname);
  };
  t.deepEqual(await names({ field: 'hostname', operator: 'isNotNull' }), ['here']);
  t.deepEqual(await names({ field: 'status', operator: 'equals', value: 'decommissioned' }), ['gone']);
});
