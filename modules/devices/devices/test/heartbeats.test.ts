/** Heartbeats: what they write, what they emit, and what they do not change. */
import test from 'ava';
import { startTestPlatform, tenant } from '#test';
import { asAgent, enroll, heartbeat, runJob } from './arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const events = async (deviceId: string) =>
  (
    await platform.sql<{ name: string }>('select name from events where device_id = $1 order by occurred_at, id', [
      deviceId,
    ])
  ).map(({ name }) => name);
const stateOf = async (deviceId: string) =>
  (await platform.sql('select * from device_state where device_id = $1', [deviceId]))[0] ?? {};
// Tests with sweeps are serial, because a sweep processes all devices of the database.
const goSilent = (ids: string[], minutes = 10) =>
  platform.sql(
    `update device_state set last_seen_at = now() - make_interval(mins => $2) where device_id = any($1::uuid[])`,
    [ids, minutes],
  );

test('heartbeats of many devices in one batch are all written, and the last of each device counts', async (t) => {
  const place = await tenant(platform);
  const devices = await Promise.all(Array.from({ length: 5 }, () => enroll(platform, place)));
  const sent = devices.flatMap((device) => [1, 2, 3].map((n) => ({ device, n })));
  const answers = await Promise.all(
    sent.map(({ device, n }) => heartbeat(platform, device, { uptimeSeconds: n, metrics: { cpuPercent: n } })),
  );
  t.true(answers.every(({ lifecycle, uninstall }) => lifecycle === 'active' && !uninstall));
  for (const { deviceId } of devices) {
    t.like(await stateOf(deviceId), { uptime_seconds: 3, latest_metrics: { cpuPercent: 3 }, connectivity: 'online' });
  }
  const [samples] = await platform.sql<{ n: number }>(
    'select count(distinct device_id)::int as n from device_metrics where org_id = $1',
    [place.orgId],
  );
  t.is(samples?.n, 5);
});

test('absent fields stay as they were, and an invalid one does not affect other heartbeats', async (t) => {
  const device = await enroll(platform, await tenant(platform));
  await heartbeat(platform, device, { lastUser: 'ada', pendingReboot: true });
  await heartbeat(platform, device, {
    lastUser: 'a\0b'.repeat(300),
    metrics: { cpuPercent: Number.NaN, ramUsedMb: 1.6 },
  });
  const state = await stateOf(device.deviceId);
  t.like(state, { pending_reboot: true, latest_metrics: { ramUsedMb: 2 } });
  t.is((state.last_user as string).length, 255);
});

test('slow fields are written only when they differ, and the change is recorded', async (t) => {
  const device = await enroll(platform, await tenant(platform), { hostname: 'old-name' });
  const version = async () =>
    (await platform.sql<{ xmin: string }>('select xmin::text from devices where id = $1', [device.deviceId]))[0]?.xmin;
  await heartbeat(platform, device, { autoUpdateEnabled: true });
  const before = await version();
  await heartbeat(platform, device, {
    hostname: 'old-name',
    agentVersion: '1.0.0',
    osVersion: '22.04',
    autoUpdateEnabled: true,
  });
  t.is(await version(), before);
  await heartbeat(platform, device, { hostname: 'new-name', agentVersion: '1.1.0' });
  t.not(await version(), before);
  const changes = await platform.sql(
    'select field, before, after from device_changes where device_id = $1 order by 1',
    [device.deviceId],
  );
  t.deepEqual(changes, [
    { field: 'agentVersion', before: '1.0.0', after: '1.1.0' },
    { field: 'hostname', before: 'old-name', after: 'new-name' },
  ]);
  t.true((await events(device.deviceId)).includes('devices.updated'));
});

test.serial('a silent device goes offline once and online once, with an event and an audit entry each', async (t) => {
  const place = await tenant(platform);
  const device = await enroll(platform, place);
  await goSilent([device.deviceId]);
  await runJob(platform, 'devices/sweep-silent');
  await runJob(platform, 'devices/sweep-silent');
  t.is((await stateOf(device.deviceId)).connectivity, 'offline');
  await Promise.all([heartbeat(platform, device), heartbeat(platform, device)]);
  await heartbeat(platform, device);
  t.deepEqual(await events(device.deviceId), ['devices.enrolled', 'devices.offline', 'devices.online']);
  const audits = await platform.audits({ action: 'agent.heartbeat.state_change', orgId: place.orgId });
  t.deepEqual(
    audits.map(({ details, actor_type }) => [details.to, actor_type]),
    [
      ['offline', 'system'],
      ['online', 'agent'],
    ],
  );
});

test.serial(
  'an organization can set a longer time, and a device with a heartbeat meanwhile stays online',
  async (t) => {
    const place = await tenant(platform);
    await platform.sql(`update organizations set settings = '{"devices":{"offlineAfterMinutes":30}}' where id = $1`, [
      place.orgId,
    ]);
    const device = await enroll(platform, place);
    await goSilent([device.deviceId], 20);
    await runJob(platform, 'devices/sweep-silent');
    t.is((await stateOf(device.deviceId)).connectivity, 'online');
    await goSilent([device.deviceId], 31);
    await runJob(platform, 'devices/sweep-silent');
    t.is((await stateOf(device.deviceId)).connectivity, 'offline');
  },
);

test.serial('workstations are offline after ten minutes, unless the organization has set another time', async (t) => {
  const place = await tenant(platform);
  const server = await enroll(platform, place, { deviceRole: 'server' });
  const desk = await enroll(platform, place, { deviceRole: 'workstation' });
  const connectivity = async () =>
    Promise.all([server, desk].map(async ({ deviceId }) => (await stateOf(deviceId)).connectivity));
  await goSilent([server.deviceId, desk.deviceId], 7);
  await runJob(platform, 'devices/sweep-silent');
  t.deepEqual(await connectivity(), ['offline', 'online']);
  await goSilent([desk.deviceId], 11);
  await runJob(platform, 'devices/sweep-silent');
  t.deepEqual(await connectivity(), ['offline', 'offline']);
  await Promise.all([heartbeat(platform, server), heartbeat(platform, desk)]);
  await platform.sql(`update partners set settings = '{"devices":{"offlineAfterMinutes":3}}' where id = $1`, [
    place.partnerId,
  ]);
  await goSilent([server.deviceId, desk.deviceId], 4);
  await runJob(platform, 'devices/sweep-silent');
  t.deepEqual(await connectivity(), ['offline', 'offline']);
});

test.serial(
  'many silent devices are one outage; devices that return in time have no event, the others do',
  async (t) => {
    const place = await tenant(platform);
    const devices = await Promise.all(Array.from({ length: 6 }, () => enroll(platform, place)));
    await goSilent(devices.map(({ deviceId }) => deviceId));
    await runJob(platform, 'devices/sweep-silent');
    const outages = await platform.sql<{ data: object }>(
      `select data from events where name = 'devices.outage' and org_id = $1`,
      [place.orgId],
    );
    t.deepEqual(outages, [{ data: { offline: 6, of: 6 } }]);
    const [back, away] = devices as [(typeof devices)[0], (typeof devices)[0]];
    await heartbeat(platform, back);
    t.deepEqual(await events(back.deviceId), ['devices.enrolled']);
    await platform.sql(`update device_state set offline_held_at = now() - interval '4 minutes' where device_id = $1`, [
      away.deviceId,
    ]);
    await runJob(platform, 'devices/sweep-silent');
    t.deepEqual(await events(away.deviceId), ['devices.enrolled', 'devices.offline']);
  },
);

test('a new source address is audited once a day for each address', async (t) => {
  const place = await tenant(platform);
  const device = await enroll(platform, place, { ip: '192.0.2.1' });
  await heartbeat(platform, device, { ip: '198.51.100.7' });
  await heartbeat(platform, device, { ip: '192.0.2.9' });
  await heartbeat(platform, device, { ip: '198.51.100.7' });
  const audits = await platform.audits({ action: 'agent.source.ip.changed', orgId: place.orgId });
  t.deepEqual(
    audits.map(({ details }) => details),
    [
      { from: '192.0.2.1', to: '198.51.100.7' },
      { from: '198.51.100.7', to: '192.0.2.9' },
    ],
  );
});

test('a watchdog alone keeps the device online, and the silence of the main agent is recorded until its heartbeat', async (t) => {
  const device = await enroll(platform, await tenant(platform));
  await platform.sql(`update device_state set main_last_seen_at = now() - interval '20 minutes' where device_id = $1`, [
    device.deviceId,
  ]);
  await heartbeat(platform, device, { role: 'watchdog', watchdogState: 'failover' });
  await heartbeat(platform, device, { role: 'watchdog', watchdogState: 'failover' });
  const state = await stateOf(device.deviceId);
  t.like(state, { watchdog_status: 'failover', connectivity: 'online' });
  t.truthy(state.main_agent_silent_since);
  t.deepEqual(await events(device.deviceId), ['devices.enrolled', 'devices.main_agent_silent']);
  await heartbeat(platform, device);
  t.is((await stateOf(device.deviceId)).main_agent_silent_since, null);
});

test.serial(
  'an update ends when the agent reports its version; one that takes too long shows the device offline',
  async (t) => {
    const place = await tenant(platform);
    const [done, stuck] = await Promise.all([enroll(platform, place), enroll(platform, place)]);
    await platform.sql(
      `update device_state set updating_since = now() - interval '6 minutes', updating_to_version = '2.0.0',
       last_seen_at = now() - interval '7 minutes' where device_id = any($1::uuid[])`,
      [[done.deviceId, stuck.deviceId]],
    );
    await heartbeat(platform, done, { agentVersion: '2.0.0' });
    await runJob(platform, 'devices/sweep-silent');
    t.like(await stateOf(done.deviceId), { updating_since: null, connectivity: 'online' });
    t.like(await stateOf(stuck.deviceId), { updating_since: null, connectivity: 'offline' });
    t.is((await platform.sql(`select 1 from device_changes where device_id = $1`, [stuck.deviceId])).length, 1);
  },
);

test('an agent that reports its old version after five minutes has failed to update, and is online', async (t) => {
  const place = await tenant(platform);
  const [early, late] = await Promise.all([enroll(platform, place), enroll(platform, place)]);
  for (const [device, minutes] of [
    [early, 4],
    [late, 6],
  ] as const) {
    await platform.sql(
      `update device_state set updating_since = now() - make_interval(mins => $2), updating_to_version = '2.0.0',
         connectivity = 'offline' where device_id = $1`,
      [device.deviceId, minutes],
    );
    await heartbeat(platform, device, { agentVersion: '1.0.0' });
  }
  t.like(await stateOf(early.deviceId), { updating_to_version: '2.0.0', connectivity: 'online' });
  t.like(await stateOf(late.deviceId), { updating_since: null, updating_to_version: null, connectivity: 'online' });
  const changes = await platform.sql(
    `select device_id, before, after from device_changes where device_id = any($1) and field = 'updateFailed'`,
    [[early.deviceId, late.deviceId]],
  );
  t.deepEqual(changes, [{ device_id: late.deviceId, before: '1.0.0', after: '2.0.0' }]);
});

test('a heartbeat of a device that no longer exists is an error', async (t) => {
  const place = await tenant(platform);
  const ghost = { deviceId: place.siteId, orgId: place.orgId };
  await t.throwsAsync(() => heartbeat(platform, ghost), { message: 'The device no longer exists' });
  t.deepEqual(
    await asAgent(platform, ghost, (ctx) => ctx.use('device-commands').claimCommands(ghost.deviceId, 'agent')),
    [],
  );
});

test('concurrent heartbeats that rename devices and decommissions do not deadlock', async (t) => {
  const place = await tenant(platform);
  const devices = await Promise.all(Array.from({ length: 8 }, () => enroll(platform, place)));
  const gone = devices.map(({ deviceId }) =>
    platform.call('DELETE', `/devices/${deviceId}`, { token: place.partner.token }),
  );
  const beaten = Array.from({ length: 5 }, (_, n) =>
    Promise.all(
      devices.map((device) => heartbeat(platform, device, { hostname: `name-${n}`, ip: `192.0.2.${n + 10}` })),
    ),
  );
  t.true((await Promise.all(gone)).every(({ status }) => status === 200));
  await Promise.all(beaten);
  t.true((await Promise.all(devices.map((device) => heartbeat(platform, device)))).every(({ uninstall }) => uninstall));
});
