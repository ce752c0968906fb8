/** Heartbeats, commands and inventory through the API. */
import test from 'ava';
import { type ErrorBody, enrollAgent, enrollmentKey, startTestPlatform, tenant } from '#test';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

const newAgent = async () => {
  const at = await tenant(platform);
  return { ...at, agent: await enrollAgent(platform, { key: await enrollmentKey(platform, at) }) };
};
const order = async (deviceId: string, orgId: string, targetRole = 'agent') => {
  const [row] = await platform.sql<{ id: string }>(
    `insert into device_commands (device_id, org_id, submitted_org_id, type, payload, source, target_role, deliver_by,
       execution_timeout_seconds)
     values ($1, $2, $2, 'script', '{"language":"sh"}', 'user', $3, now() + interval '1 day', 300) returning id`,
    [deviceId, orgId, targetRole],
  );
  return row?.id ?? '';
};

test('the answer to a heartbeat has all fields of the protocol', async (t) => {
  const { agent } = await newAgent();
  const { status, body } = await agent.heartbeat({ status: 'ok', metrics: { cpuPercent: 12.5 } });
  t.is(status, 200);
  t.deepEqual(Object.keys(body).sort(), [
    'commands',
    'configUpdate',
    'configVersion',
    'manifestTrustKeys',
    'nextHeartbeatSeconds',
    'rotateToken',
    'serverTime',
    'trustKeyList',
    'uninstall',
    'upgradeTo',
    'watchdogUpgradeTo',
  ]);
  t.true(body.nextHeartbeatSeconds >= 54 && body.nextHeartbeatSeconds <= 66);
  t.true(Math.abs(Date.parse(body.serverTime) - Date.now()) < 10_000);
  t.like(body.configUpdate, {
    heartbeatIntervalSeconds: 60,
    metricsCollectionIntervalSeconds: 30,
    features: { agent_logs: true, event_logs: true, updates: true },
  });
  t.is((await agent.heartbeat()).body.configUpdate, null, 'a configuration is sent once');
  t.is((await agent.heartbeat({ configVersion: body.configVersion })).body.configUpdate, null);
  t.truthy((await agent.heartbeat({ configVersion: 'older' })).body.configUpdate);
});

test('the device of an agent that stops is offline at once, and online with its next heartbeat', async (t) => {
  const { agent, partner } = await newAgent();
  const { token } = partner;
  const status = async () =>
    (await platform.call<{ data: { status: string } }>('GET', `/devices/${agent.deviceId}`, { token })).body.data
      .status;
  await agent.heartbeat();
  t.is(await status(), 'online');
  for (const _ of [1, 2]) t.is((await agent.call('POST', 'stop', {})).status, 200);
  t.is(await status(), 'offline');
  const told = await platform.sql(`select name from events where device_id = $1 and name = 'devices.offline'`, [
    agent.deviceId,
  ]);
  t.is(told.length, 1, 'a repeat changes nothing');
  await agent.heartbeat();
  t.is(await status(), 'online');
});

test('what agent and watchdog say about themselves is in the detail of the device, each from its own program', async (t) => {
  const { agent, partner } = await newAgent();
  const detail = async () =>
    (await platform.call<{ data: object }>('GET', `/devices/${agent.deviceId}`, { token: partner.token })).body.data;
  const unknown = { agentStatus: null, isHeadless: null, flapDetected: null, mainAgentRestartCount24h: null };
  t.like(await detail(), unknown);
  await agent.heartbeat({ status: 'warning', isHeadless: true, flapDetected: true, mainAgentRestartCount24h: 9 });
  t.like(await detail(), { ...unknown, agentStatus: 'warning', isHeadless: true });
  const watchdog = { role: 'watchdog', status: 'error', watchdogState: 'failover', isHeadless: false };
  const { watchdogAuthToken } = agent.enrolled;
  await agent.call(
    'POST',
    'heartbeat',
    { ...watchdog, flapDetected: true, mainAgentRestartCount24h: 7 },
    watchdogAuthToken,
  );
  const known = { agentStatus: 'warning', isHeadless: true, flapDetected: true, mainAgentRestartCount24h: 7 };
  t.like(await detail(), { ...known, watchdogStatus: 'failover' });
  await agent.heartbeat({ status: 'great', isHeadless: 'no' });
  t.like(await detail(), known);
});

test('an invalid field is dropped and the rest of the heartbeat counts', async (t) => {
  const { agent } = await newAgent();
  const bad = await agent.heartbeat({
    status: 'superb',
    agentVersion: { not: 'text' },
    hostname: 'renamed\u0000\ud800-pc',
    osVersion: 'x'.repeat(5000),
    uptimeSeconds: -4,
    lastUser: 'ada\u0000',
    pendingReboot: 'perhaps',
    battery: [1],
    ipHistoryUpdate: { currentIPs: ['999.1.1.1'] },
    metrics: { cpuPercent: 'a lot', ramPercent: 61, diskPercent: 400, processCount: 1e300, interfaceStats: 'none' },
    unheardOf: true,
  });
  t.is(bad.status, 200);
  const [row] = await platform.sql<{ hostname: string; os_version: string; latest_metrics: object; last_user: string }>(
    `select d.hostname, d.os_version, d.agent_version, s.latest_metrics, s.last_user, s.connectivity
     from devices d join device_state s on s.device_id = d.id where d.id = $1`,
    [agent.deviceId],
  );
  t.like(row, {
    hostname: 'renamed\ufffd-pc',
    os_version: 'Debian 12',
    agent_version: '1.0.0',
    connectivity: 'online',
  });
  t.like(row, { last_user: 'ada', latest_metrics: { ramPercent: 61 } });
  t.deepEqual(
    Object.keys(row?.latest_metrics ?? {}).filter((key) => key.endsWith('Percent')),
    ['ramPercent'],
  );
  for (const body of [{}, { metrics: 7 }, { metrics: null }]) t.is((await agent.heartbeat(body)).status, 200);
  const huge = await agent.heartbeat({ lastUser: 'x'.repeat(1_100_000) });
  t.is(huge.status, 413);
});

// Serial, because it counts the statements of the whole connection pool.
test.serial('a heartbeat costs no statement of its own once the agent is known', async (t) => {
  const { agent } = await newAgent();
  await agent.heartbeat();
  await agent.heartbeat();
  const { app } = platform.platform.tasks.work.database;
  const taken = app.totalCount;
  const seen: string[] = [];
  const listener = () => seen.push('acquired');
  app.on('acquire', listener);
  t.is((await agent.heartbeat()).status, 200);
  app.off('acquire', listener);
  t.deepEqual(seen, [], 'no transaction was opened for the request');
  t.is(app.totalCount, taken);
});

test('a command is delivered once, started, and its first result counts', async (t) => {
  const { agent, orgId } = await newAgent();
  const id = await order(agent.deviceId, orgId);
  const { body } = await agent.heartbeat();
  t.deepEqual(
    body.commands.map((command) => command.id),
    [id],
  );
  t.like(body.commands[0], { type: 'script', payload: { language: 'sh' }, executionTimeoutSeconds: 300 });
  t.deepEqual(await agent.commands(), []);
  t.is((await agent.call('POST', `commands/${id}/start`, {})).status, 200);
  const done = await agent.result(id, {
    status: 'completed',
    exitCode: 0,
    stdout: 'hello\u0000',
    durationMs: 12.4,
    result: { a: '\u0000' },
  });
  t.deepEqual(done.body, { success: true });
  const again = await agent.result(id, { status: 'failed', exitCode: 1 });
  t.is(again.status, 200);
  const [row] = await platform.sql('select status, exit_code from device_commands where id = $1', [id]);
  t.like(row, { status: 'completed', exit_code: 0 });
  const audits = await platform.audits({ orgId, action: 'agent.command.result.submit' });
  t.is(audits.length, 1);
  t.like(audits[0], { actor_type: 'agent', actor_id: agent.deviceId });
});

test('results of unknown commands, of other devices and of the wrong role are rejected', async (t) => {
  const [{ agent, orgId }, stranger] = await Promise.all([newAgent(), newAgent()]);
  const id = await order(agent.deviceId, orgId);
  t.is((await stranger.agent.result(id)).status, 404);
  t.is((await agent.result('00000000-0000-4000-8000-00000000dead')).status, 404);
  await agent.commands();
  const watchdog = agent.enrolled.watchdogAuthToken;
  t.is((await agent.call('POST', `commands/${id}/result`, { status: 'completed' }, watchdog)).status, 403);
  t.is((await agent.result(id, { status: 'maybe' })).status, 400);
  t.is((await agent.result(id)).status, 200);
});

test('an oversized result is truncated, not rejected', async (t) => {
  const { agent, orgId } = await newAgent();
  const id = await order(agent.deviceId, orgId);
  await agent.commands();
  const done = await agent.result(id, {
    status: 'failed',
    exitCode: 4_294_967_295,
    stdout: 'a'.repeat(6_000_000),
    error: 'e'.repeat(20_000),
  });
  t.is(done.status, 200);
  const [row] = await platform.sql<{ status: string; exit_code: number; error: string }>(
    'select status, exit_code, error from device_commands where id = $1',
    [id],
  );
  t.like(row, { status: 'failed', exit_code: -1 });
  t.true((row?.error.length ?? 0) <= 10_000);
  t.regex(row?.error ?? '', /truncated/);
});

test('snapshots are stored once and skipped while they stay the same', async (t) => {
  const { agent } = await newAgent();
  const bodies = {
    hardware: { manufacturer: 'Acme', serialNumber: 'S-9', cpuCores: 8, diskTotalGb: 476.9 },
    network: { adapters: [{ name: 'eth0', mac: '02:00:00:00:00:01', ipv4: ['10.0.0.5'], ipv6: [], isPrimary: true }] },
    disks: {
      disks: [
        { mountPoint: '/', device: '/dev/vda1', fsType: 'ext4', totalGb: 100, usedGb: 40, freeGb: 60, usedPercent: 40 },
      ],
    },
    software: { software: [{ name: 'Editor', version: '1.0', vendor: 'Acme' }], complete: true },
    services: { services: [{ name: 'sshd', state: 'running', startType: 'auto' }], complete: true },
  };
  for (const [kind, body] of Object.entries(bodies)) {
    const put = (hash: string) => agent.put(kind as 'hardware', { ...body, snapshotHash: hash.repeat(64) });
    t.deepEqual((await put('a')).body, { changed: true }, kind);
    t.deepEqual((await put('a')).body, { changed: false }, kind);
  }
  const bad = await agent.call<ErrorBody>('PUT', 'disks', { disks: [{ mountPoint: '', totalGb: 'big' }] });
  t.is(bad.status, 400);
  t.deepEqual(bad.body.error.details.map(({ path }) => path).sort(), ['disks.0.mountPoint', 'disks.0.totalGb']);
});

test('a configuration is not sent again to an agent that has its version', async (t) => {
  const { agent } = await newAgent();
  const first = await agent.call<{ configVersion: string }>('GET', 'config');
  const etag = first.headers.get('etag') ?? '';
  t.true(etag.includes(first.body.configVersion));
  const again = await fetch(`${platform.url}/api/v1/agents/${agent.agentId}/config`, {
    headers: { authorization: `Bearer ${agent.token}`, 'if-none-match': etag },
  });
  t.is(again.status, 304);
});

test('battery, interfaces and addresses of a heartbeat are stored and shown', async (t) => {
  const { agent, orgAdmin } = await newAgent();
  const interfaceStats = [{ name: 'eth0', inBps: 10, outBps: 5, unheardOf: 1 }];
  const beat = (ips: string[], battery: object) =>
    agent.heartbeat({
      battery,
      metrics: { cpuPercent: 3, interfaceStats },
      ipHistoryUpdate: { currentIPs: ips, detectedAt: new Date().toISOString() },
    });
  t.is((await beat(['10.0.0.7', 'fe80::1'], { percent: 80, charging: true, colour: 'red' })).status, 200);
  await beat(['10.0.0.8'], { percent: 79, charging: false });
  const { body } = await platform.call<{ data: { battery: object; metrics: object } }>(
    'GET',
    `/devices/${agent.deviceId}`,
    { token: orgAdmin.token },
  );
  t.deepEqual(body.data.battery, { percent: 79, charging: false });
  t.like(body.data.metrics, { cpuPercent: 3, interfaceStats: [{ name: 'eth0', inBps: 10, outBps: 5 }] });
  const known = await platform.sql<{ ip: string }>(
    `select ip from device_ip_history where device_id = $1 and kind = 'interface' order by ip`,
    [agent.deviceId],
  );
  t.deepEqual(
    known.map(({ ip }) => ip),
    ['10.0.0.7', '10.0.0.8', 'fe80::1'],
  );
});
