/** The function behind the search for devices: limited to the caller's reach, with indexes, under row-level security. */
import test from 'ava';
import type { Context } from '#core';
import { organization, startTestPlatform, tenant } from '#test';
import { searchDevices } from '../services/lists/name-search.ts';
import { enroll } from './arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const { app } = platform.platform.tasks.work.database;
type ResultRow = Record<string, unknown>;
type Query = (text: string, values?: unknown[]) => Promise<ResultRow[]>;

/** Runs with the tenant role limited to these organizations, as runUnitOfWork() does, and always rolls back. */
async function announced<T>(orgIds: string[], run: (query: Query) => Promise<T>): Promise<T> {
  const client = await app.connect();
  try {
    await client.query('begin');
    if (orgIds.length > 0) await client.query(`select set_config('app.org_ids', $1, true)`, [`{${orgIds.join(',')}}`]);
    return await run(async (text, values = []) => (await client.query(text, values)).rows);
  } finally {
    await client.query('rollback');
    client.release();
  }
}

test('called directly by a tenant it returns its own devices, and nothing without a tenant', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  const own = await enroll(platform, mine, { hostname: 'direct-1' });
  const foreign = await enroll(platform, theirs, { hostname: 'direct-2' });
  for (const term of ['direct', 'rect-', 'e']) {
    const ids = (orgIds: string[]) =>
      announced(orgIds, async (query) =>
        (await query('select device_id from named_devices(null, null, $1, 10)', [term]))
          .map((row) => row.device_id)
          .sort(),
      );
    t.deepEqual(await ids([mine.orgId]), [own.deviceId], term);
    t.deepEqual(await ids([theirs.orgId]), [foreign.deviceId], term);
    t.deepEqual(await ids([mine.orgId, theirs.orgId]), [own.deviceId, foreign.deviceId].sort(), term);
    t.deepEqual(await ids([]), [], term);
  }
});

test('limited to groups it returns only their members, the best first, without excluded devices', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  const device = async (hostname: string, place = mine) => (await enroll(platform, place, { hostname })).deviceId;
  const [whole, begins, holds, shut, outside] = await Promise.all(
    ['bound', 'bound-2', 'un-bound', 'bound-3', 'bound-4'].map((hostname) => device(hostname)),
  );
  const foreign = await device('bound-5', theirs);
  const group = async ({ orgId }: { orgId: string }, members: (string | undefined)[], excluded?: string) => {
    const [{ id } = { id: '' }] = await platform.sql<{ id: string }>(
      `insert into device_groups (org_id, name, type) values ($1, gen_random_uuid(), 'static') returning id`,
      [orgId],
    );
    await platform.sql(
      `insert into device_group_members (group_id, device_id, org_id, added_by, is_excluded)
       select $1, m, $2, 'manual', m is not distinct from $4 from unnest($3::uuid[]) m`,
      [id, orgId, members, excluded ?? null],
    );
    return id;
  };
  const own = await group(mine, [whole, begins, holds, shut], shut);
  const other = await group(theirs, [foreign]);
  const ids = (groups: string[], term: string, wanted = 10) =>
    announced([mine.orgId], async (query) =>
      (await query('select device_id from named_devices(null, $1, $2, $3)', [groups, term, wanted])).map(
        (row) => row.device_id,
      ),
    );
  t.deepEqual(await ids([own, other], 'bound'), [whole, begins, holds]);
  t.deepEqual(await ids([own], 'bound', 1), [whole]);
  t.deepEqual(await ids([own], 'n-bou'), [holds]);
  t.deepEqual(await ids([other], 'bound'), []);
  t.deepEqual(await ids([], 'bound'), []);
  t.false((await ids([own], 'bound')).includes(outside));
});

test('a tenant cannot pass organizations to it', async (t) => {
  const { orgId } = await tenant(platform);
  await t.throwsAsync(
    announced([orgId], (query) => query(`select * from find_named_devices(null, null, null, 'a', 10)`)),
    { message: /permission denied/ },
  );
});

test('a search uses the indexes of names for prefixes, and trigram indexes for parts, under row-level security', async (t) => {
  const { orgId, siteId, partnerId } = await tenant(platform);
  const other = await organization(platform, partnerId);
  for (const [n, place] of [{ orgId, siteId }, other].entries()) {
    await platform.sql(
      `insert into devices (org_id, site_id, hostname, display_name, os_type, lifecycle)
       select $1, $2, 'host-' || md5($3 || n::text), case when n % 3 = 0 then 'Desk ' || md5('d' || $3 || n) end, 'linux', 'active'
       from generate_series(1, 6000) n`,
      [place.orgId, place.siteId, `${n}`],
    );
  }
  await platform.sql('analyze devices');
  const [wanted] = await platform.sql<{ part: string; hostname: string; desk: string }>(
    `select hostname, substr(hostname, 10, 6) as part, (select substr(display_name, 9, 6) from devices
       where org_id = $1 and display_name is not null limit 1) as desk
     from devices where org_id = $1 and display_name is null limit 1`,
    [orgId],
  );
  const scans = async (query: Query, index: string) =>
    Number((await query('select pg_stat_get_xact_numscans($1::regclass) as n', [index]))[0]?.n);
  const read = async (query: Query) =>
    Number((await query(`select pg_stat_get_xact_tuples_fetched('devices'::regclass) as n`))[0]?.n);
  for (const [term, indexes, rows] of [
    // Prefixes: it reads at most twice the number of rows that can be shown, from each index of names.
    [wanted?.hostname, [], 10],
    ['host-', [], 100],
    ['desk', [], 100],
    [wanted?.part, ['devices_hostname_found', 'devices_display_name_found'], 300],
    [wanted?.desk, ['devices_hostname_found', 'devices_display_name_found'], 300],
  ] as const) {
    await announced([orgId], async (query) => {
      const before = await Promise.all(indexes.map((index) => scans(query, index)));
      const readBefore = await read(query);
      const found = await query(
        'select d.org_id from devices d where d.id = any(array(select device_id from named_devices(null, null, $1, 20)))',
        [term],
      );
      t.true(found.length > 0 && found.every((row) => row.org_id === orgId), term);
      t.is(await scans(query, 'devices'), 0, `${term} read the whole table`);
      t.true((await read(query)) - readBefore <= rows, `${term} read ${(await read(query)) - readBefore} rows`);
      for (const [n, index] of indexes.entries()) {
        t.true((await scans(query, index)) > (before[n] ?? 0), `${term} did not use ${index}`);
      }
    });
  }
  // Outside the function row-level security applies between the ids and the rows, in the statement of the search itself.
  const made: [string, unknown[]][] = [];
  const listening = {
    scope: { orgIds: [orgId], siteIds: null, groupIds: null },
    sql: async (text: string, values: unknown[]) => ({ rows: made.push([text, values]) ? [] : [] }),
  };
  await searchDevices(listening as unknown as Context, 'host', 20);
  const [text = '', values] = made[0] ?? [];
  const outer = await announced([orgId], (query) => query(`explain ${text}`, values));
  const plan = outer.map((row) => row['QUERY PLAN']).join('\n');
  t.regex(plan, /Function Scan on named_devices/);
  t.regex(plan, /devices_(pkey|id_org)/);
  t.regex(plan, /Filter: .*org_id = ANY/);
  t.notRegex(plan, /Seq Scan on devices/);
  // The next page of a walk: the position is an index condition, not a filter on each row.
  for (const [key, text] of [
    ['d.name_key', 'host-8'],
    ['d.enrolled_at', '2026-01-01'],
  ]) {
    const next = await announced([orgId], (query) =>
      query(
        `explain select d.id from devices d where (${key}, d.id) > ('${text}', '${orgId}') order by ${key}, d.id limit 20`,
      ),
    );
    t.regex(next.map((row) => row['QUERY PLAN']).join('\n'), /Index Cond: .*ROW\(/, key);
  }
  // The statements for parts inside the function, as its owner.
  const inner = await platform.sql<{ 'QUERY PLAN': string }>(
    `explain select d.id from devices d where d.org_id = any('{${orgId}}'::uuid[])
       and (lower(d.hostname) like '%${wanted?.part}%' or lower(d.display_name) like '%${wanted?.part}%')
       and d.lifecycle <> 'decommissioned' limit 1000`,
  );
  t.regex(
    inner.map((row) => row['QUERY PLAN']).join('\n'),
    /BitmapOr[\s\S]*devices_hostname_found[\s\S]*devices_display_name_found/,
  );
});
