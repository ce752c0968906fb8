/** Following devices and their software: what limited callers receive, and what counts as a change. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { organization, orgUser, type Page, type Person, Replica, tenant } from '#test';
import { asAgent, enroll, heartbeat } from './arrange.ts';
import { group, join, platform, site } from './followed-ground.ts';

const { sql } = platform;

async function place() {
  const made = await tenant(platform);
  const { deviceId } = await enroll(platform, made, { hostname: 'first' });
  await asAgent(platform, { ...made, deviceId }, (ctx) =>
    ctx.use('devices').submitSoftware(deviceId, { software: [{ name: 'editor', version: '1.0' }] }),
  );
  return { ...made, deviceId, other: await site(made.orgId), groupId: await group(made.orgId) };
}
const both = async (person: Person) => {
  const replicas = [new Replica(platform, '/devices', person), new Replica(platform, '/software/inventory', person)];
  for (const replica of replicas) await replica.follow();
  return {
    sizes: () => replicas.map(({ rows }) => rows.size),
    follow: async () => (await Promise.all(replicas.map((replica) => replica.follow()))).map(({ gone }) => gone.length),
  };
};

test('a device that leaves a caller’s sites is removed for them with its software, and comes back', async (t) => {
  const { orgId, siteId, deviceId, other, orgAdmin } = await place();
  const limited = await both(await orgUser(platform, { orgId, siteIds: [siteId] }));
  const elsewhere = await both(await orgUser(platform, { orgId, siteIds: [other] }));
  const whole = await both(orgAdmin);
  t.deepEqual(
    [limited.sizes(), elsewhere.sizes()],
    [
      [1, 1],
      [0, 0],
    ],
  );
  const move = (to: string) =>
    platform.call('PATCH', `/devices/${deviceId}`, { token: orgAdmin.token, body: { siteId: to } });
  t.is((await move(other)).status, 200);
  t.deepEqual(
    [await limited.follow(), await elsewhere.follow(), await whole.follow()],
    [
      [1, 1],
      [0, 0],
      [0, 0],
    ],
  );
  t.deepEqual(
    [limited.sizes(), elsewhere.sizes(), whole.sizes()],
    [
      [0, 0],
      [1, 1],
      [1, 1],
    ],
  );
  // Changes out of the caller's reach are not listed.
  await sql(`update devices set hostname = 'renamed' where id = $1`, [deviceId]);
  t.deepEqual(
    [await limited.follow(), limited.sizes()],
    [
      [0, 0],
      [0, 0],
    ],
  );
  await move(siteId);
  t.deepEqual(
    [await elsewhere.follow(), await limited.follow()],
    [
      [1, 1],
      [0, 0],
    ],
  );
  t.deepEqual(limited.sizes(), [1, 1]);
});

test('the same for callers limited to groups; they do not receive the removal of other devices', async (t) => {
  const made = await place();
  const { orgId, deviceId, groupId } = made;
  const another = await enroll(platform, made, { hostname: 'another' });
  const limited = await both(await orgUser(platform, { orgId, deviceGroupIds: [groupId] }));
  t.deepEqual(limited.sizes(), [0, 0]);
  await join(groupId, deviceId, orgId);
  t.deepEqual(
    [await limited.follow(), limited.sizes()],
    [
      [0, 0],
      [1, 1],
    ],
  );
  await sql(`update devices set lifecycle = 'decommissioned', decommissioned_at = now() where id = $1`, [
    another.deviceId,
  ]);
  t.deepEqual(await limited.follow(), [0, 0]);
  await sql('delete from device_group_members where device_id = $1', [deviceId]);
  t.deepEqual(
    [await limited.follow(), limited.sizes()],
    [
      [1, 1],
      [0, 0],
    ],
  );
});

test('a device that moves to another organization is removed in the old one and new in the other', async (t) => {
  const { partnerId, partner, orgAdmin, deviceId } = await place();
  const target = await organization(platform, partnerId);
  const [old, above] = [await both(orgAdmin), await both(partner)];
  const now = await both(await orgUser(platform, { orgId: target.orgId }));
  const { status } = await platform.call('POST', `/devices/${deviceId}/move-org`, {
    token: partner.token,
    body: { orgId: target.orgId, siteId: target.siteId },
  });
  t.is(status, 200);
  t.deepEqual(
    [await old.follow(), await now.follow(), await above.follow()],
    [
      [1, 1],
      [0, 0],
      [0, 0],
    ],
  );
  t.deepEqual(
    [old.sizes(), now.sizes(), above.sizes()],
    [
      [0, 0],
      [1, 1],
      [1, 1],
    ],
  );
});

test('a heartbeat alone is no change; a new organization keeps cursors valid, a deleted one does not', async (t) => {
  const made = await place();
  const { deviceId, orgId, partner, partnerId } = made;
  await heartbeat(platform, made, { metrics: { cpuPercent: 5 } });
  const replica = new Replica(platform, '/devices', partner);
  await replica.follow();
  await heartbeat(platform, made, { metrics: { cpuPercent: 50 } });
  t.deepEqual(await replica.follow(), { ids: [], gone: [] });
  await sql(`update device_state set last_seen_at = now() - interval '1 hour' where device_id = $1`, [deviceId]);
  await platform.platform.tasks.work.database.owner.query(
    `update device_state set connectivity = 'offline' where device_id = $1`,
    [deviceId],
  );
  t.deepEqual(await replica.follow(), { ids: [deviceId], gone: [] });
  const { orgId: second } = await organization(platform, partnerId);
  t.is((await replica.ask(`cursor=${replica.cursor}`)).status, 200);
  for (const id of [second, orgId]) await sql('update organizations set deleted_at = now() where id = $1', [id]);
  await sql(`select pg_notify('quartermaster', '["principals","*"]')`);
  // The caller is cached for a second at most.
  const until = Date.now() + 30_000;
  while ((await replica.ask(`cursor=${replica.cursor}`)).status !== 410) {
    if (Date.now() > until) return t.fail('the cursor is still good');
  }
});

test('filters, fields and details: a device that no longer matches is removed; a saved filter cannot be followed', async (t) => {
  const { deviceId, orgAdmin } = await place();
  const online = new Replica(platform, '/devices?status=online,offline&include=details', orgAdmin);
  await online.follow();
  const shown = await platform.call<{ data: Record<string, unknown> }>('GET', `/devices/${deviceId}`, orgAdmin);
  const { recentMetrics: _, pendingCommands: __, ...detail } = shown.body.data;
  t.deepEqual(online.rows.get(deviceId), detail);
  await sql(`update devices set lifecycle = 'quarantined' where id = $1`, [deviceId]);
  t.deepEqual(await online.follow(), { ids: [], gone: [deviceId] });
  const named = await platform.call<Page>('GET', '/devices?updatedSince=beginning&fields=hostname', orgAdmin);
  t.deepEqual(named.body.data, [{ id: deviceId, hostname: 'first' }]);
  const other = await online.ask(`status=online&cursor=${online.cursor}`);
  t.is(other.status, 400, 'a cursor belongs to its filters');
  t.is((await online.ask(`updatedSince=beginning&filterId=${randomUUID()}`)).status, 400);
});
