/** The number of statements of each endpoint of devices, begin and commit included, regardless of the number of rows. */
import test from 'ava';
import type pg from 'pg';
import { organization, startTestPlatform, tenant } from '#test';
import { enroll } from './arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

/** The statements since the last request began, by connection: that of a request is the one on which its tenant was set. */
let ran = new Map<pg.PoolClient, string[]>();
const watched = new WeakSet<pg.PoolClient>();
const { app, platform: wide } = platform.platform.tasks.work.database;
for (const pool of [app, wide]) {
  pool.on('acquire', (client) => {
    if (watched.has(client)) return;
    watched.add(client);
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    client.query = ((...args: unknown[]) => {
      const [what] = args;
      const text = typeof what === 'string' ? what : ((what as { text?: string }).text ?? '');
      // Connections are reused: a request begins when the tenant is set and ends with the commit.
      if (text.includes(`set_config('app.org_ids'`)) ran.set(client, []);
      const mine = ran.get(client);
      if (mine && !mine.at(-1)?.endsWith('commit')) mine.push(text);
      return query(...args);
    }) as typeof client.query;
  });
}

/** Begin (which sets the tenant) and commit (with audit, events and jobs) are one statement each. */
const KNOWN: Record<string, number> = {
  'GET /devices/:id': 6,
  'PATCH /devices/:id': 8,
  'GET /devices/:id/changes?cursor=': 4,
  'GET /devices/:id/metrics': 4,
  'GET /devices/:id/metrics?resolution=1h': 4,
  // A power command: two more than others, for the setting and for what the agent allows.
  'POST /devices/:id/commands': 6,
  'POST /devices/:id/auto-update': 6,
  'POST /devices/:id/maintenance': 8,
  'DELETE /devices/:id/maintenance': 8,
  'POST /devices/:id/quarantine': 9,
  'POST /devices/:id/approve': 7,
  'POST /devices/:id/move-org': 20,
  'POST /devices/:id/merge': 18,
  'DELETE /devices/:other': 6,
  'POST /devices/:other/restore': 10,
  'DELETE /devices/:gone/permanent?confirm=gone': 4,
  'POST /devices/provision': 9,
  'POST /devices/bulk/commands of 1': 4,
  // One more reads how many devices the organization lets one person decide about.
  'POST /devices/bulk/commands of 500': 5,
};

test('each endpoint takes a fixed number of statements, regardless of the number of devices and rows', async (t) => {
  const place = await tenant(platform);
  const target = await organization(platform, place.partnerId);
  const { token } = place.partner;
  const round = async (number: number): Promise<Record<string, number>> => {
    const [one, other, gone, into] = await Promise.all([
      ...[`one-${number}`, `other-${number}`, 'gone'].map((hostname) => enroll(platform, place, { hostname })),
      enroll(platform, target, { hostname: `into-${number}` }),
    ]);
    const ids: Record<string, string | undefined> = {
      ':id': one?.deviceId,
      ':other': other?.deviceId,
      ':gone': gone?.deviceId,
    };
    await platform.call('DELETE', `/devices/${gone?.deviceId}?uninstall=false`, { token });
    await platform.sql(
      `insert into device_metrics (device_id, ts, org_id, cpu_percent)
       select $1, now() - n * interval '1 minute', $2, 1 from generate_series(1, $3) n`,
      [one?.deviceId, place.orgId, number * 100],
    );
    const many = await platform.sql<{ id: string }>(
      `with d as (
         insert into devices (org_id, site_id, agent_id, hostname, os_type, lifecycle)
         select $1, $2, gen_random_uuid()::text, 'h', 'linux', 'active' from generate_series(1, 500)
         returning id, org_id),
       s as (insert into device_state (device_id, org_id) select id, org_id from d)
       select id from d`,
      [place.orgId, place.siteId],
    );
    const bodies: Record<string, object> = {
      'PATCH /devices/:id': { displayName: 'x', tags: ['a'] },
      'POST /devices/:id/commands': { type: 'lock' },
      'POST /devices/:id/auto-update': { enabled: false },
      'POST /devices/:id/maintenance': { minutes: 5 },
      'POST /devices/:id/quarantine': { reason: 'x' },
      'POST /devices/:id/move-org': target,
      'POST /devices/:id/merge': { intoDeviceId: into?.deviceId },
      'POST /devices/provision': { orgId: place.orgId, hostname: `new-${number}`, osType: 'linux' },
      'POST /devices/bulk/commands of 1': { deviceIds: [other?.deviceId], type: 'refresh_inventory' },
      'POST /devices/bulk/commands of 500': { deviceIds: many.map(({ id }) => id), type: 'refresh_inventory' },
    };
    const costs: Record<string, number> = {};
    for (const call of Object.keys(KNOWN)) {
      const [method = '', path = ''] = call.split(' ');
      const body = bodies[call] ?? (method === 'POST' ? {} : undefined);
      if (path.endsWith('/merge')) {
        await platform.sql(`update device_state set connectivity = 'offline' where device_id = $1`, [one?.deviceId]);
      }
      ran = new Map();
      const answer = await platform.call(
        method,
        path.replace(/:\w+/, (name) => ids[name] ?? name),
        { token, ...(body ? { body } : {}) },
      );
      t.true(answer.status < 300, `${call}: ${JSON.stringify(answer.body)}`);
      const lists = [...ran.values()];
      t.is(lists.length, 1, call);
      costs[call] = lists[0]?.length ?? 0;
    }
    return costs;
  };
  // The first round also reads the columns of the tables, once for each process.
  await round(1);
  t.deepEqual(await round(2), KNOWN);
  t.deepEqual(await round(10), KNOWN);
});
