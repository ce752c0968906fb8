/** Filters of the list by text, tag and status, each with few matching devices and with thousands. */
import test from 'ava';
import { type Called, orgUser, sharedPlatform, systemUser, type Tenant, tenant } from '#test';

const platform = await sharedPlatform();
test.after.always(() => platform.stop());

interface Listed {
  devices: { id: string; hostname: string }[];
  nextCursor: string | null;
  total?: number;
}
/** More than MAX_FOUND. */
const MANY = 4500;

/**
 * Devices many-0001 and so on, each with a state and hardware: all with one tag and online, a few with a name, serial
 * number, address, tag or status of their own.
 */
async function crowd(): Promise<Tenant> {
  const made = await tenant(platform);
  await platform.sql(
    `with made as (
       insert into devices (org_id, site_id, hostname, display_name, os_type, lifecycle, enrolled_at, tags)
       select $1, $2, 'many-' || lpad(n::text, 4, '0'), case when n = 7 then 'Front Desk' end, 'linux',
         case when n = 12 then 'quarantined' else 'active' end, now() - n * interval '1 minute',
         case when n in (8, 9) then array['all', 'few'] else array['all'] end
       from generate_series(1, $3::int) n returning id, org_id, hostname),
     state as (
       insert into device_state (device_id, org_id, connectivity, last_seen_at, last_seen_ip, lan_ip)
       select id, org_id, 'online', case when hostname <> 'many-0002' then now() - right(hostname, 4)::int * interval '1 minute' end,
         case when hostname = 'many-0010' then '203.0.113.77' else '192.0.2.1' end,
         case when hostname = 'many-0011' then 'FE80::BEEF' end from made)
     insert into device_hardware (device_id, org_id, serial_number)
     select id, org_id, case when hostname = 'many-0005' then 'XK-77' end from made where hostname < 'many-0100'`,
    [made.orgId, made.siteId, MANY],
  );
  await platform.sql('analyze devices, device_state, device_hardware');
  return made;
}
let mine: Tenant;
let theirs: Tenant;
test.before(async () => {
  mine = await crowd();
  theirs = await crowd();
});

const list = (token: string, query: string): Promise<Called<Listed>> =>
  platform.call<Listed>('GET', `/devices?${query}`, { token });
const names = async (token: string, query: string) =>
  (await list(token, query)).body.devices.map(({ hostname }) => hostname);
const own = ({ orgId }: Tenant) => `&orgIds=${orgId}`;
const host = (n: number) => `many-${String(n).padStart(4, '0')}`;
const everyone = Array.from({ length: MANY }, (_, n) => host(n + 1));

async function walk(token: string, query: string): Promise<string[]> {
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Called<Listed> = await list(token, `${query}&limit=1000&cursor=${cursor}`);
    seen.push(...page.body.devices.map(({ hostname }) => hostname));
    cursor = page.body.nextCursor;
  }
  return seen;
}

test('a text of few devices is found as a part of name, serial number or address, in any case', async (t) => {
  const admin = await systemUser(platform);
  for (const [token, more] of [
    [mine.partner.token, ''],
    [mine.orgAdmin.token, ''],
    [admin.token, own(mine)],
  ] as const) {
    for (const [query, wanted] of [
      ['search=MANY-0042', [42]],
      ['search=front%20d', [7]],
      ['search=xk-7', [5]],
      ['search=113.77', [10]],
      ['search=fe80::be', [11]],
      ['search=none-has-it', []],
      ['search=zq', []],
      ['search=y-000&sort=lastSeen&sortDir=desc', [1, 3, 4, 5, 6, 7, 8, 9, 2]],
      ['search=y-000&status=offline', []],
      ['tag=few', [8, 9]],
      ['tag=few&search=0009', [9]],
      ['tag=few&sort=lastSeen', [9, 8]],
      ['tag=nobodys', []],
      ['status=quarantined', [12]],
      ['status=updating,maintenance', []],
    ] as const) {
      const answer = await list(token, `${query}&includeTotal=true${more}`);
      t.deepEqual(
        answer.body.devices.map(({ hostname }) => hostname),
        wanted.map(host),
        query,
      );
      t.is(answer.body.total, wanted.length, query);
    }
  }
});

test('a text of thousands of devices is walked in each order without a gap, and counted', async (t) => {
  const { token } = mine.partner;
  const bySeen = [...everyone.filter((name) => name !== host(2)).toReversed(), host(2)];
  for (const [query, wanted] of [
    ['search=many', everyone],
    ['search=ma', everyone],
    ['search=MANY&sortDir=desc', everyone.toReversed()],
    ['search=many&sort=enrolled', everyone.toReversed()],
    ['search=many&sort=lastSeen', bySeen],
    ['sort=lastSeen', bySeen],
    ['sort=lastSeen&sortDir=desc', [...bySeen.slice(0, -1).toReversed(), host(2)]],
    ['tag=all&sort=lastSeen', bySeen],
    ['tag=all', everyone],
    ['status=online', everyone.filter((name) => name !== host(12))],
    ['status=online,quarantined&sort=lastSeen&search=many', bySeen],
    ['search=192.0.2', everyone.filter((name) => name !== host(10))],
  ] as const) {
    t.deepEqual(await walk(token, query), [...wanted], query);
    t.is((await list(token, `${query}&limit=1&includeTotal=true`)).body.total, wanted.length, query);
  }
});

test('neither way finds devices of another tenant, or out of reach of a limited caller', async (t) => {
  await platform.sql(
    `with made as (
       insert into device_groups (org_id, name, type) values ($1, 'Few', 'static') returning id, org_id)
     insert into device_group_members (group_id, device_id, org_id, added_by)
     select made.id, d.id, d.org_id, 'manual' from made join devices d on d.org_id = made.org_id
     where d.hostname in ('many-0005', 'many-0008')`,
    [mine.orgId],
  );
  const [group] = await platform.sql<{ id: string }>('select id from device_groups where org_id = $1', [mine.orgId]);
  const inGroup = await orgUser(platform, { orgId: mine.orgId, deviceGroupIds: [group?.id ?? ''] });
  const elsewhere = await platform.sql<{ id: string }>(
    `insert into sites (org_id, name) values ($1, 'Empty') returning id`,
    [mine.orgId],
  );
  const atSite = await orgUser(platform, { orgId: mine.orgId, siteIds: [elsewhere[0]?.id ?? ''] });
  const foreign = new Set(
    (await platform.sql<{ id: string }>('select id from devices where org_id = $1', [theirs.orgId])).map(
      ({ id }) => id,
    ),
  );
  for (const query of [
    'search=many',
    'search=xk-77',
    'search=many-00',
    'tag=all',
    'tag=few',
    'status=online',
    'sort=lastSeen',
  ]) {
    const { devices } = (await list(mine.partner.token, query)).body;
    t.true(devices.length > 0 && devices.every(({ id }) => !foreign.has(id)), query);
    const seen = await names(inGroup.token, query);
    t.true(seen.length > 0 && seen.every((name) => name === host(5) || name === host(8)), `${query}: ${seen}`);
    t.deepEqual(await names(atSite.token, query), [], query);
  }
  for (const [term, wanted] of [
    ['many', [5, 8]],
    ['any-0005', [5]],
    ['any-0006', []],
  ] as const) {
    const { body } = await platform.call<{ results: { type: string; title: string }[] }>('GET', `/search?q=${term}`, {
      token: inGroup.token,
    });
    t.deepEqual(
      body.results.filter(({ type }) => type === 'devices').map(({ title }) => title),
      wanted.map(host),
    );
  }
});
