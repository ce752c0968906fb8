/** Walking through GET /devices during writes: no device is missed, and a device that keeps its value is listed once. */
import test from 'ava';
import pg from 'pg';
import { startTestPlatform, type Tenant, tenant } from '#test';
import { enroll } from './arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

interface Listed {
  devices: { hostname: string }[];
  nextCursor: string | null;
}
const ORDERS = ['hostname', 'lastSeen', 'enrolled'].flatMap((sort) => [
  `sort=${sort}&sortDir=asc`,
  `sort=${sort}&sortDir=desc`,
]);

/** Devices d0 to d9, each seen and enrolled an hour after the one before, the last of them today. */
async function fleet(): Promise<Tenant> {
  const made = await tenant(platform);
  for (let n = 0; n < 10; n++) await enroll(platform, made, { hostname: `d${n}` });
  await platform.sql(
    `update devices set enrolled_at = now() - interval '20 hours' + substr(hostname, 2)::int * interval '1 hour' where org_id = $1`,
    [made.orgId],
  );
  await platform.sql(
    `update device_state s set last_seen_at = d.enrolled_at from devices d where d.id = s.device_id and d.org_id = $1`,
    [made.orgId],
  );
  return made;
}

async function walk(made: Tenant, order: string, between: (page: number, seen: string[]) => Promise<unknown>) {
  const seen: string[] = [];
  let cursor: string | null = '';
  for (let page = 0; cursor !== null; page++) {
    if (page > 40) throw new Error('the walk does not end');
    const { body }: { body: Listed } = await platform.call<Listed>(
      'GET',
      `/devices?limit=2&${order}&cursor=${cursor}`,
      {
        token: made.partner.token,
      },
    );
    seen.push(...body.devices.map((device) => device.hostname));
    cursor = body.nextCursor;
    await between(page, seen);
  }
  return seen;
}
const ALL = Array.from({ length: 10 }, (_, n) => `d${n}`);
const beaten = (made: Tenant, names: string[]) =>
  platform.sql(
    `update device_state s set last_seen_at = now() from devices d
     where d.id = s.device_id and d.org_id = $1 and d.hostname = any($2)`,
    [made.orgId, names],
  );
const times = (seen: string[], name: string) => seen.filter((one) => one === name).length;

for (const order of ORDERS) {
  test(`with ${order} heartbeats of listed and of unlisted devices hide none, and silent ones are listed once`, async (t) => {
    const made = await fleet();
    const loud = ['d1', 'd4', 'd8'];
    const seen = await walk(made, order, (page) => beaten(made, page % 2 === 0 ? loud : ['d5']));
    for (const name of ALL) {
      t.true(seen.includes(name), `${name} was missed: ${seen.join(' ')}`);
      const changes = order.includes('lastSeen') && [...loud, 'd5'].includes(name);
      t.true(times(seen, name) <= (changes ? 2 : 1), `${name} came ${times(seen, name)} times: ${seen.join(' ')}`);
    }
    t.is(seen.slice(0, 2).join(), order.endsWith('asc') ? 'd0,d1' : 'd9,d8');
  });
}

test('a device that gets an earlier name before the walk reaches it is not missed', async (t) => {
  const made = await fleet();
  const rename = (from: string, to: string) =>
    platform.sql('update devices set hostname = $3 where org_id = $1 and hostname = $2', [made.orgId, from, to]);
  const seen = await walk(made, 'sort=hostname', async (page) => page === 1 && rename('d7', 'aaa'));
  t.deepEqual(seen, [...ALL.filter((name) => name !== 'd7'), 'aaa']);
});

test('a write of another column does not list the device twice', async (t) => {
  const made = await fleet();
  for (const order of ORDERS) {
    const seen = await walk(made, order, () =>
      platform.sql(`update devices set tags = tags || array['t'], hostname = hostname where org_id = $1`, [made.orgId]),
    );
    t.deepEqual(seen.toSorted(), ALL, order);
  }
});

test('a heartbeat from before the walk that is committed during the walk hides no device', async (t) => {
  const made = await fleet();
  const other = new pg.Client({ connectionString: platform.databaseUrl });
  await other.connect();
  await other.query('begin');
  await other.query(
    `update device_state s set last_seen_at = clock_timestamp() from devices d
     where d.id = s.device_id and d.org_id = $1 and d.hostname = 'd3'`,
    [made.orgId],
  );
  // From the newest to the oldest: d3 moves past the position, to a time before the walk began.
  const seen = await walk(made, 'sort=lastSeen&sortDir=desc', async (page) => page === 1 && other.query('commit'));
  await other.end();
  t.deepEqual(seen, ['d9', 'd8', 'd7', 'd6', 'd5', 'd4', 'd2', 'd1', 'd0', 'd3']);
});

test('a device enrolled during the walk is listed at most once', async (t) => {
  const made = await fleet();
  for (const order of ORDERS) {
    const name = `d5${order.replaceAll(/\W/g, '')}`;
    const seen = await walk(made, order, async (page) => page === 1 && enroll(platform, made, { hostname: name }));
    t.true(times(seen, name) <= 1, seen.join(' '));
    for (const one of ALL) t.is(times(seen, one), 1, `${order}: ${one}`);
    await platform.sql(
      `update devices set lifecycle = 'decommissioned', decommissioned_at = now() where hostname = $1`,
      [name],
    );
  }
});
