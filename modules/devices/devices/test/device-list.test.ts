/** GET /devices in both forms. */
import test from 'ava';
import { type Called, type ErrorBody, organization, orgUser, startTestPlatform, tenant } from '#test';
import { enroll, heartbeat } from './arrange.ts';

interface Listed {
  devices: { id: string; hostname: string; status: string }[];
  nextCursor: string | null;
  limit: number;
  total?: number;
}

const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const list = (token: string, query = '') => platform.call<Listed>('GET', `/devices${query}`, { token });
const names = ({ body }: Called<Listed>) => body.devices.map(({ hostname }) => hostname);

async function walk(token: string, query: string): Promise<string[]> {
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: Called<Listed> = await list(token, `${query}&cursor=${cursor}`);
    seen.push(...names(page));
    cursor = page.body.nextCursor;
  }
  return seen;
}

test('the cursor lists every device once in each order, with unknown values last', async (t) => {
  const { partner, orgId, siteId, partnerId } = await tenant(platform);
  const other = await organization(platform, partnerId);
  for (const hostname of ['beta', 'Alpha', 'delta', 'charlie', 'echo']) {
    await enroll(platform, hostname === 'delta' ? other : { orgId, siteId }, { hostname });
  }
  const set = (hostname: string, minutes: number | null) =>
    platform.sql(
      `update device_state set last_seen_at = now() - make_interval(mins => $2) from devices d
       where d.id = device_id and d.hostname = $1 and d.org_id = any($3)`,
      [hostname, minutes, [orgId, other.orgId]],
    );
  await set('beta', 3);
  await set('Alpha', 1);
  await set('delta', 2);
  await set('charlie', null);
  await set('echo', null);
  t.deepEqual(await walk(partner.token, '?limit=2'), ['Alpha', 'beta', 'charlie', 'delta', 'echo']);
  t.deepEqual(await walk(partner.token, '?limit=2&sortDir=desc'), ['echo', 'delta', 'charlie', 'beta', 'Alpha']);
  for (const limit of [1, 2, 3]) {
    const seen = await walk(partner.token, `?limit=${limit}&sort=lastSeen`);
    t.deepEqual(seen.slice(0, 3), ['beta', 'delta', 'Alpha']);
    t.deepEqual(seen.slice(3).sort(), ['charlie', 'echo']);
    const back = await walk(partner.token, `?limit=${limit}&sort=lastSeen&sortDir=desc`);
    t.deepEqual(back.slice(0, 3), ['Alpha', 'delta', 'beta']);
    t.is(back.length, 5);
  }
  t.is((await walk(partner.token, '?limit=2&sort=enrolled')).length, 5);
});

test('the page form and the cursor form have their documented shapes', async (t) => {
  const { partner, orgId, siteId } = await tenant(platform);
  const device = await enroll(platform, { orgId, siteId }, { hostname: 'one', hardware: { serialNumber: 'SN1' } });
  await enroll(platform, { orgId, siteId }, { hostname: 'two' });
  await heartbeat(platform, device, { metrics: { cpuPercent: 12.5 }, lastUser: 'ada' });
  const paged = await platform.call<{ data: object[]; pagination: object }>('GET', '/devices?page=1&limit=9000', {
    token: partner.token,
  });
  t.deepEqual(paged.body.pagination, { page: 1, limit: 500, total: 2 });
  t.like(paged.body.data[0], {
    id: device.deviceId,
    hostname: 'one',
    siteName: 'Main',
    status: 'online',
    connectivity: 'online',
    lastUser: 'ada',
    wanIp: '192.0.2.1',
    tags: [],
    mainAgentSilentSince: null,
    watchdogStatus: null,
    hardware: { serialNumber: 'SN1', model: null },
    metrics: { cpuPercent: 12.5, ramPercent: null },
  });
  const first = await list(partner.token, '?limit=1&includeTotal=true');
  t.like(first.body, { limit: 1, total: 2 });
  t.deepEqual(Object.keys(first.body).sort(), ['devices', 'limit', 'nextCursor', 'total']);
  t.false('agentId' in (first.body.devices[0] ?? {}) || 'sort' in (first.body.devices[0] ?? {}));
  t.is((await list(partner.token)).body.limit, 50);
});

test('filters narrow the list, and decommissioned devices are left out by default', async (t) => {
  const { partner, orgId, siteId } = await tenant(platform);
  const place = { orgId, siteId };
  const gone = await enroll(platform, place, { hostname: 'gone-1' });
  await enroll(platform, place, { hostname: 'web_1', osType: 'windows', hardware: { serialNumber: 'ABC-77' } });
  await enroll(platform, place, { hostname: 'webx1' });
  await platform.sql(`update devices set lifecycle = 'decommissioned', decommissioned_at = now() where id = $1`, [
    gone.deviceId,
  ]);
  await platform.sql(`update devices set tags = '{rack,blue}' where hostname = 'webx1' and org_id = $1`, [orgId]);
  const { token } = partner;
  t.deepEqual(names(await list(token)), ['web_1', 'webx1']);
  t.deepEqual(names(await list(token, '?includeDecommissioned=true')), ['gone-1', 'web_1', 'webx1']);
  t.deepEqual(names(await list(token, '?search=web_')), ['web_1']);
  t.deepEqual(names(await list(token, '?search=abc-7')), ['web_1']);
  t.deepEqual(names(await list(token, '?osType=windows,macos')), ['web_1']);
  t.deepEqual(names(await list(token, '?tag=rack')), ['webx1']);
  t.deepEqual(names(await list(token, '?status=offline')), []);
  t.deepEqual(names(await list(token, '?status=online&status=decommissioned')), ['gone-1', 'web_1', 'webx1']);
  t.deepEqual(names(await list(token, `?orgIds=${orgId}&siteIds=${siteId}&sort=lastSeen&search=webx`)), ['webx1']);
});

test('devices out of reach are hidden, and naming something out of reach is an error', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  const { deviceId } = await enroll(platform, mine, { hostname: 'mine' });
  t.deepEqual(names(await list(theirs.partner.token)), []);
  t.is((await list(theirs.partner.token, `?orgIds=${theirs.orgId},${mine.orgId}`)).status, 404);
  t.is((await list(theirs.orgAdmin.token, `?orgIds=${mine.orgId}`)).status, 403);
  t.is((await list(theirs.partner.token, `?siteIds=${mine.siteId}`)).status, 404);
  t.is((await platform.call('GET', `/devices/${deviceId}`, { token: theirs.partner.token })).status, 404);
});

test('callers limited to sites see their devices, and callers limited to empty device groups see none', async (t) => {
  const { orgId, siteId } = await tenant(platform);
  const [elsewhere] = await platform.sql<{ id: string }>(
    `insert into sites (org_id, name) values ($1, 'Elsewhere') returning id`,
    [orgId],
  );
  const hidden = await enroll(platform, { orgId, siteId: elsewhere?.id ?? '' }, { hostname: 'hidden' });
  await enroll(platform, { orgId, siteId }, { hostname: 'seen' });
  const atSite = await orgUser(platform, { orgId, siteIds: [siteId] });
  const inGroup = await orgUser(platform, { orgId, deviceGroupIds: [siteId] });
  t.deepEqual(names(await list(atSite.token)), ['seen']);
  t.is((await platform.call('GET', `/devices/${hidden.deviceId}`, { token: atSite.token })).status, 404);
  const named = await platform.call<ErrorBody>('GET', `/devices?siteIds=${elsewhere?.id}`, { token: atSite.token });
  t.is(named.body.error.code, 'SITE_ACCESS_DENIED');
  const none = await list(inGroup.token, '?includeTotal=true');
  t.deepEqual([none.body.devices, none.body.total], [[], 0]);
});

test('a cursor of another order, a forged cursor, and both forms together are errors', async (t) => {
  const { partner, orgId, siteId } = await tenant(platform);
  await enroll(platform, { orgId, siteId });
  await enroll(platform, { orgId, siteId });
  const { token } = partner;
  const { body } = await list(token, '?limit=1');
  const refused = async (query: string) =>
    (await platform.call<ErrorBody>('GET', `/devices?${query}`, { token })).body.error.code;
  t.is(await refused(`cursor=${body.nextCursor}&sort=enrolled`), 'INVALID_CURSOR');
  const id = '11111111-1111-4111-8111-111111111111';
  const now = new Date().toISOString();
  for (const forged of [
    ['order', '2026', 'no-uuid', now, '700:700:'],
    ['order', 'no time', id, now, '700:700:'],
    ['order', now, id, 'no time', '700:700:'],
    ['order', now, id, now, '700:600:'],
    ['order', now, id, now, '700:701:900'],
    ['order', now, id, now, 'all'],
    ['order', now, id, now, '999999999999999999:999999999999999999:'],
    ['moved', null, 'no-uuid', now, '700:700:'],
    ['else', now, id, now, '700:700:'],
    [now, id],
  ]) {
    const cursor = Buffer.from(JSON.stringify(['devices-enrolled-asc', ...forged])).toString('base64url');
    const { status, body } = await platform.call<ErrorBody>('GET', `/devices?cursor=${cursor}&sort=enrolled`, {
      token,
    });
    if (status !== 200) t.is(body.error.code, 'INVALID_CURSOR', forged.join(' '));
    else t.regex(forged.join(' '), /:999999999999999999:/);
  }
  t.is(await refused(`page=1&cursor=${body.nextCursor}`), 'VALIDATION_ERROR');
  t.is(await refused('orgIds=1,2'), 'VALIDATION_ERROR');
  t.is(await refused('filterId=1'), 'VALIDATION_ERROR');
});
