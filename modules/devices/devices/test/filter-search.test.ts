/** The functions that find devices by indexes: what they return to whom, and that they use the indexes. */
import test from 'ava';
import { startTestPlatform, tenant } from '#test';
import { asAgent, asPlatform, enroll, runJob } from './arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const { app } = platform.platform.tasks.work.database;

/** Runs with the tenant role limited to these organizations, as runUnitOfWork() does, and always rolls back. */
async function announced<T>(
  orgIds: string[],
  run: (query: (text: string, values?: unknown[]) => Promise<ResultRow[]>) => Promise<T>,
) {
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
type ResultRow = Record<string, unknown>;

const CALLS: [call: string, value: unknown][] = [
  ['devices_with_hostname_like($1)', '%'],
  ['devices_with_hostname_like($1)', '%SRV-%'],
  ['devices_with_display_name_like($1)', '%front%'],
  ['devices_with_software_like($1)', '%chrom%'],
  ['devices_with_any_tag($1)', ['rack', 'none']],
  ['devices_with_all_tags($1)', ['rack']],
  ['devices_with_custom_value($1)', '{"shelf": "A"}'],
  ['devices_with_text_like($1, 10)', '%SRV-%'],
  ['devices_with_text_like($1, null)', '%front%'],
];

async function furnish(place: { orgId: string; siteId: string }, hostname: string): Promise<string> {
  const { deviceId } = await enroll(platform, place, { hostname });
  await platform.sql(
    `update devices set display_name = 'Front desk', tags = '{rack,blue}', custom_fields = '{"shelf": "A"}' where id = $1`,
    [deviceId],
  );
  await platform.sql(`insert into device_software (device_id, org_id, name) values ($1, $2, 'Google Chrome')`, [
    deviceId,
    place.orgId,
  ]);
  return deviceId;
}

test('called directly by a tenant they return its own devices, and nothing without a tenant', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  const own = await furnish(mine, 'srv-mine');
  const foreign = await furnish(theirs, 'srv-theirs');
  const place = async (id: unknown) =>
    (await platform.sql('select ctid::text as place from devices where id = $1', [id]))[0]?.place;
  for (const [call, value] of CALLS) {
    const found = (orgIds: string[]) => announced(orgIds, (query) => query(`select f.* from ${call} f`, [value]));
    const ids = async (orgIds: string[]) => (await found(orgIds)).map((row) => row.device_id as string);
    t.deepEqual(await ids([mine.orgId]), [own], call);
    t.deepEqual(await ids([theirs.orgId]), [foreign], call);
    t.deepEqual((await ids([mine.orgId, theirs.orgId])).sort(), [own, foreign].sort(), call);
    t.deepEqual(await ids([]), [], call);
    for (const row of await found([mine.orgId])) if (row.place) t.is(row.place, await place(own), call);
  }
});

test('a query with one of them shows no row that row-level security hides, whatever the function returned', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  await furnish(mine, 'srv-1');
  const foreign = await furnish(theirs, 'srv-2');
  // Faulty functions that return everything.
  await platform.sql(`create function leaking_ids(pattern text) returns setof uuid language sql stable security definer
    set search_path = public, pg_temp as $$ select id from devices where hostname like pattern $$`);
  await platform.sql(`create function leaking_places(pattern text) returns setof tid language sql stable security definer
    set search_path = public, pg_temp as $$ select ctid from devices where hostname like pattern $$`);
  for (const condition of [
    'd.id in (select leaking_ids($1))',
    'd.id = any(array(select leaking_ids($1)))',
    'd.ctid in (select leaking_places($1))',
    'd.ctid = any(array(select leaking_places($1)))',
  ]) {
    const names = await announced([mine.orgId], (query) =>
      query(`select hostname from devices d where ${condition} or d.id = $2`, ['srv-%', foreign]),
    );
    t.deepEqual(names, [{ hostname: 'srv-1' }], condition);
    const led = await announced([mine.orgId], (query) =>
      query(`select hostname from devices d where ${condition}`, ['srv-%']),
    );
    t.deepEqual(led, [{ hostname: 'srv-1' }], condition);
  }
});

test('a tenant cannot read the names of all software', async (t) => {
  const { orgId } = await tenant(platform);
  await t.throwsAsync(
    announced([orgId], (query) => query('select name from software_names')),
    { message: /permission denied/ },
  );
});

test('a tenant uses the indexes, and without the functions would read every row', async (t) => {
  const { orgId, siteId } = await tenant(platform);
  await platform.sql(
    `insert into devices (org_id, site_id, hostname, display_name, os_type, lifecycle, tags, custom_fields)
     select $1, $2, 'host-' || md5(n::text), 'Desk ' || md5('d' || n), 'linux', 'active', array['t' || n], jsonb_build_object('n', n)
     from generate_series(1, 6000) n`,
    [orgId, siteId],
  );
  await platform.sql(
    `insert into device_software (device_id, org_id, name) select id, org_id, 'Tool ' || hostname from devices where org_id = $1`,
    [orgId],
  );
  await platform.sql(
    `insert into device_hardware (device_id, org_id, serial_number) select id, org_id, 'Serial-' || substr(hostname, 6)
     from devices where org_id = $1`,
    [orgId],
  );
  await platform.sql(
    `insert into device_state (device_id, org_id, lan_ip) select id, org_id, '2001:DB8::' || substr(hostname, 6, 30)
     from devices where org_id = $1`,
    [orgId],
  );
  // Merges the pending lists into the indexes, as autovacuum does: index scans have to read those as well.
  await platform.sql('vacuum analyze devices, device_software, software_names, device_hardware, device_state');
  const scans = 'select pg_stat_get_xact_numscans($1::regclass) as n';
  for (const [call, value, index] of [
    ['devices_with_hostname_like($1)', '%c4ca4238%', 'devices_hostname_found'],
    ['devices_with_display_name_like($1)', '%desk 0%ff0%', 'devices_display_name_found'],
    ['devices_with_software_like($1)', '%c4ca4238%', 'software_names_found'],
    ['devices_with_software_like($1)', '%c4ca4238%', 'device_software_found'],
    ['devices_with_any_tag($1)', ['t7', 't8'], 'devices_tags'],
    ['devices_with_all_tags($1)', ['t7'], 'devices_tags'],
    ['devices_with_custom_value($1)', '{"n": 7}', 'devices_custom_fields'],
    ['devices_with_text_like($1, 4001)', '%c4ca4238%', 'devices_hostname_found'],
    ['devices_with_text_like($1, 4001)', '%serial-c4ca4238%', 'device_hardware_serial_found'],
    ['devices_with_text_like($1, 4001)', '%2001:db8::c4ca4238%', 'device_state_address_found'],
  ] as const) {
    await announced([orgId], async (query) => {
      const before = Number((await query(scans, [index]))[0]?.n);
      const rows = await query(`select d.id from devices d where d.id = any(array(select device_id from ${call}))`, [
        value,
      ]);
      t.true(rows.length > 0 && rows.length < 600, `${call}: ${rows.length}`);
      t.true(Number((await query(scans, [index]))[0]?.n) > before, `${call} did not use ${index}`);
    });
  }
  await announced([orgId], async (query) => {
    const plan = async (condition: string) =>
      (await query(`explain select d.id from devices d where ${condition}`)).map((row) => row['QUERY PLAN']).join('\n');
    // The problem: under row-level security the operator does not use its index.
    t.notRegex(await plan(`lower(d.hostname) like '%c4ca4238%'`), /devices_hostname_found/);
    t.notRegex(await plan(`d.tags && array['t7']`), /devices_tags/);
    // The solution: from ctids, or ids, to the rows, each still checked by row-level security.
    const places = await plan(`d.ctid = any(array(select place from devices_with_hostname_like('%c4ca4238%')))`);
    t.regex(places, /Tid Scan on devices d.*\n\s+TID Cond: .*\n\s+Filter: \(org_id = ANY/);
    const ids = await plan(`d.id = any(array(select device_id from devices_with_software_like('%c4ca4238%')))`);
    // An index that includes the organization also covers the policy, in either position.
    t.regex(ids, /Index Cond: .*\(id = ANY/);
    t.regex(ids, /\(org_id = ANY/);
    const within = await plan(
      `d.os_type = 'macos' or d.ctid in (select place from devices_with_hostname_like('%c4ca4238%'))`,
    );
    t.regex(within, /hashed SubPlan/);
  });
  // The statements inside the functions, as their owner.
  const inside = await platform.sql<{ 'QUERY PLAN': string }>(
    `explain select d.id from devices d where d.org_id = any('{${orgId}}'::uuid[]) and lower(d.hostname) like lower('%c4ca4238%')`,
  );
  t.regex(inside.map((row) => row['QUERY PLAN']).join('\n'), /Bitmap Index Scan on devices_hostname_found/);
});

test('with the index of addresses, a heartbeat from the same address is still a heap-only update', async (t) => {
  const { orgId, siteId } = await tenant(platform);
  const { deviceId } = await enroll(platform, { orgId, siteId });
  await platform.sql(`update device_state set last_seen_ip = '192.0.2.7', lan_ip = '10.1.1.7' where device_id = $1`, [
    deviceId,
  ]);
  await announced([orgId], async (query) => {
    const heartbeatFrom = (ip: string) =>
      query(
        `update device_state set last_seen_at = now(), last_seen_ip = $2, lan_ip = '10.1.1.7' where device_id = $1`,
        [deviceId, ip],
      );
    const within = async () =>
      Number((await query(`select pg_stat_get_xact_tuples_hot_updated('device_state'::regclass) as n`))[0]?.n);
    await heartbeatFrom('192.0.2.7');
    t.is(await within(), 1);
    await heartbeatFrom('192.0.2.8');
    t.is(await within(), 1, 'another address goes into the index');
  });
});

test.serial('a name is stored when software with it is reported, and deleted when no device has it', async (t) => {
  const { orgId, siteId } = await tenant(platform);
  const device = await enroll(platform, { orgId, siteId });
  const submit = (...names: string[]) =>
    asAgent(platform, device, (ctx) =>
      ctx
        .use('devices')
        .submitSoftware(device.deviceId, { software: names.map((name) => ({ name, version: '1' })), complete: true }),
    );
  const known = async () =>
    (await platform.sql(`select name from software_names where name like 'Passing %' order by 1`)).map(
      (row) => row.name,
    );
  await submit('Passing A', 'Passing B');
  t.deepEqual(await known(), ['Passing A', 'Passing B']);
  await submit('Passing B');
  await platform.sql(`update device_software set name = 'Passing C' where device_id = $1`, [device.deviceId]);
  t.deepEqual(await known(), ['Passing A', 'Passing B', 'Passing C']);
  await runJob(platform, 'devices/prune-names');
  t.deepEqual(await known(), ['Passing C']);
});

test.serial('pruning waits for snapshots in progress, so that no name in use is deleted', async (t) => {
  const { orgId, siteId } = await tenant(platform);
  const { deviceId } = await enroll(platform, { orgId, siteId });
  await platform.sql(`insert into software_names values ('Just arriving')`);
  let pruning: Promise<void> = Promise.resolve();
  await asPlatform(platform, async (ctx) => {
    await ctx.sql(`insert into device_software (device_id, org_id, name) values ($1, $2, 'Just arriving')`, [
      deviceId,
      orgId,
    ]);
    pruning = runJob(platform, 'devices/prune-names');
    // Until the other transaction waits for our lock.
    for (let waiting = 0; waiting === 0; ) {
      const { rows } = await ctx.sql<{ n: number }>(
        `select count(*) as n from pg_locks where relation = 'software_names'::regclass and not granted`,
      );
      waiting = rows[0]?.n ?? 0;
    }
  });
  await pruning;
  t.is((await platform.sql(`select from software_names where name = 'Just arriving'`)).length, 1);
});
