/** Following devices as a property: after any writes, each copy ends equal to the list. */
import test from 'ava';
import { orgUser, type Person, Replica, tenant } from '#test';
import { fc } from '#test/properties';
import { enroll } from './arrange.ts';
import { group, join, platform, site } from './followed-ground.ts';

type Op = { writer: number; device: number; act: keyof typeof ACTS };
const ACTS = {
  rename: `update devices set hostname = 'r' || md5(random()::text) where id = $1`,
  tag: `update devices set tags = array['t' || (random() * 9)::int] where id = $1`,
  online: `update device_state set connectivity = case connectivity when 'online' then 'offline' else 'online' end
    where device_id = $1`,
  hardware: `insert into device_hardware (device_id, org_id, model) select id, org_id, md5(random()::text) from devices
    where id = $1 on conflict (device_id) do update set model = excluded.model`,
  network: `insert into device_network_interfaces (device_id, org_id, name) select id, org_id, 'eth' || (random() * 3)::int
    from devices where id = $1 on conflict (device_id, name) do update set mac_address = md5(random()::text)`,
  cable: 'delete from device_network_interfaces where device_id = $1',
  move: `update devices d set site_id = (select s.id from sites s where s.org_id = d.org_id and s.id <> d.site_id limit 1)
    where id = $1`,
  join: `insert into device_group_members (group_id, device_id, org_id, added_by)
    select g.id, d.id, d.org_id, 'manual' from devices d join device_groups g on g.org_id = d.org_id where d.id = $1
    on conflict (group_id, device_id) do update set is_excluded = not device_group_members.is_excluded`,
  leave: 'delete from device_group_members where device_id = $1',
  retire: `update devices set lifecycle = 'decommissioned', decommissioned_at = now()
    where id = $1 and lifecycle = 'active'`,
  revive: `update devices set lifecycle = 'active', decommissioned_at = null where id = $1`,
  purge: 'delete from devices where id = $1',
  organization: `update organizations set name = md5(random()::text) where id = (select org_id from devices where id = $1)`,
  commit: 'commit',
  rollback: 'rollback',
};
const WRITERS = 3;
const LOCK_NOT_AVAILABLE = '55P03';
const op: fc.Arbitrary<Op | 'read'> = fc.oneof(
  { weight: 1, arbitrary: fc.constant('read' as const) },
  {
    weight: 4,
    arbitrary: fc.record({
      writer: fc.nat(WRITERS - 1),
      device: fc.nat(3),
      act: fc.constantFrom(...(Object.keys(ACTS) as (keyof typeof ACTS)[])),
    }),
  },
);

test('with concurrent writes, committed in any order, each copy equals the list at the end', async (t) => {
  t.timeout(240_000);
  await fc.assert(
    fc.asyncProperty(fc.array(op, { minLength: 10, maxLength: 60 }), async (ops) => {
      const made = await tenant(platform);
      const { orgId, siteId } = made;
      await site(orgId);
      const groupId = await group(orgId);
      const ids: string[] = [];
      for (let n = 0; n < WRITERS * 4; n++) {
        const { deviceId } = await enroll(platform, made);
        ids.push(deviceId);
        if (n % 2) await join(groupId, deviceId, orgId);
      }
      const people = [
        made.orgAdmin,
        made.partner,
        await orgUser(platform, { orgId, siteIds: [siteId] }),
        await orgUser(platform, { orgId, deviceGroupIds: [groupId] }),
      ];
      const replicas = people.map((person) => new Replica(platform, '/devices?include=details', person, 3));
      await run(ops, ids, async () => {
        for (const replica of replicas) await replica.step();
      });
      for (const [index, replica] of replicas.entries()) {
        await replica.follow();
        t.deepEqual(byId(replica.rows), byId(await listOf(people[index] ?? made.partner)));
      }
    }),
    { numRuns: 12, endOnFailure: true },
  );
});

const byId = (rows: Map<string, unknown>) => [...rows].sort(([a], [b]) => (a < b ? -1 : 1));

/**
 * Each writer has devices of its own and one transaction at a time. Rows that writers share, such as counts of an organization,
 * can be locked by another writer: a writer that would have to wait rolls back, because the other continues only when it is its
 * turn.
 */
async function run(ops: (Op | 'read')[], ids: string[], read: () => Promise<void>): Promise<void> {
  const { owner } = platform.platform.tasks.work.database;
  const clients = await Promise.all(Array.from({ length: WRITERS }, () => owner.connect()));
  const open = new Set<number>();
  try {
    for (const one of ops) {
      if (one === 'read') {
        await read();
        continue;
      }
      const client = clients[one.writer];
      // Only the first writer renames what all devices share.
      if (one.act === 'organization' && one.writer > 0) continue;
      const ends = one.act === 'commit' || one.act === 'rollback';
      if (!open.has(one.writer)) await client?.query(`begin; set local lock_timeout = '300ms'`);
      open.add(one.writer);
      const waited = await client?.query(ACTS[one.act], ends ? [] : [ids[one.writer * 4 + one.device]]).then(
        () => false,
        (error: { code?: string }) => {
          if (error.code !== LOCK_NOT_AVAILABLE) throw error;
          return true;
        },
      );
      if (waited) await client?.query('rollback');
      if (ends || waited) open.delete(one.writer);
    }
    for (const writer of open) await clients[writer]?.query('commit');
  } finally {
    for (const client of clients) client.release(true);
  }
}

/** The current list, each device with its details. */
async function listOf({ token }: Person): Promise<Map<string, Record<string, unknown>>> {
  const { body } = await platform.call<{ devices: { id: string }[] }>('GET', '/devices?limit=1000', { token });
  const rows = new Map<string, Record<string, unknown>>();
  for (const { id } of body.devices) {
    const one = await platform.call<{ data: Record<string, unknown> }>('GET', `/devices/${id}`, { token });
    const { recentMetrics: _, pendingCommands: __, ...detail } = one.body.data;
    rows.set(id, detail);
  }
  return rows;
}
