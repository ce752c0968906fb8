/** The socket of agents: who may connect, which frames it carries, and what closes it. */
import test from 'ava';
import { enrollAgent, enrollmentKey, joinTestPlatform, startTestPlatform, tenant, until } from '#test';
import { openPeer } from './socket-client.ts';

const platform = await startTestPlatform({ AGENT_PING_SECONDS: '1' });
const other = await joinTestPlatform(platform, { AGENT_PING_SECONDS: '300' });
test.after.always(async () => {
  await other.stop();
  await platform.stop();
});

const newAgent = async () => {
  const at = await tenant(platform);
  return { ...at, agent: await enrollAgent(platform, { key: await enrollmentKey(platform, at) }) };
};
type New = Awaited<ReturnType<typeof newAgent>>;
const peerOf = ({ agent }: New, url = other.url, token = agent.token) => openPeer(url, agent.agentId, token);

const order = async ({ agent, orgAdmin }: New, body: object = { type: 'refresh_inventory' }) => {
  const made = await platform.call<{ data: { id: string } }>('POST', `/devices/${agent.deviceId}/commands`, {
    token: orgAdmin.token,
    body,
  });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return made.body.data.id;
};
const commandRow = async (id: string) => {
  const [row] = await platform.sql<Record<string, unknown>>('select * from device_commands where id = $1', [id]);
  return row ?? {};
};

test('an agent that connects is online at once, and closing the socket does not make it offline', async (t) => {
  const at = await newAgent();
  await platform.sql(`update device_state set connectivity = 'offline' where device_id = $1`, [at.agent.deviceId]);
  const peer = await peerOf(at);
  t.like(await peer.next('connected'), { agentId: at.agent.agentId, epoch: 1 });
  await until(async () => {
    const { body } = await platform.call<{ data: { status: string } }>('GET', `/devices/${at.agent.deviceId}`, {
      token: at.orgAdmin.token,
    });
    return body.data.status === 'online';
  });
  await peer.close();
  await until(async () => {
    const [row] = await platform.sql<{ gone: boolean }>(
      'select node_id is null and last_disconnect_at is not null as gone from agent_connections where device_id = $1',
      [at.agent.deviceId],
    );
    return row?.gone === true;
  });
  const [row] = await platform.sql('select connectivity from device_state where device_id = $1', [at.agent.deviceId]);
  t.like(row, { connectivity: 'online' });
});

test('a connected agent is notified when a feature is switched off for its organization', async (t) => {
  const at = await newAgent();
  const peer = await peerOf(at);
  peer.send({ frame: 'heartbeat', status: 'ok', agentVersion: '1.0.0' });
  const { configVersion } = await peer.next('heartbeat_ack');
  await platform.sql(
    `insert into tenant_modules (partner_id, org_id, key, enabled) values ($1, $2, 'device-logs', false)`,
    [at.partnerId, at.orgId],
  );
  const { version } = await peer.next('config');
  t.not(version, configVersion);
  const { body } = await at.agent.call<{ config: { features: object } }>('GET', 'config');
  t.like(body.config.features, { agent_logs: false, event_logs: false, updates: true });
  await peer.close();
});

test('a command reaches the socket in another process, is started, and its result ends it once', async (t) => {
  const at = await newAgent();
  const peer = await peerOf(at);
  await peer.next('connected');
  // The command is queued in one process, the agent is connected to the other.
  const id = await order(at);
  const command = await peer.next('command');
  t.like(command, { id, type: 'refresh_inventory', payload: {} });
  peer.send({ frame: 'ack', commandId: id });
  t.like(await peer.next('ack_answer'), { commandId: id, begun: 'running' });
  t.like(await commandRow(id), { status: 'running', epoch: 1 });
  peer.send({ frame: 'progress', commandId: id, percent: 40, message: 'half way\u0000' });
  await until(async () => (await commandRow(id)).progress_percent === 40);
  peer.send({ frame: 'command_result', commandId: id, status: 'completed', exitCode: 0, stdout: 'done' });
  t.like(await peer.next('result_ack'), { commandId: id, success: true });
  peer.send({ frame: 'command_result', commandId: id, status: 'failed', exitCode: 1 });
  await until(async () => peer.frames.filter(({ frame }) => frame === 'result_ack').length === 2);
  t.like(await commandRow(id), { status: 'completed', exit_code: 0, progress_message: 'half way' });
  t.is((await platform.audits({ orgId: at.orgId, action: 'agent.command.result.submit' })).length, 1);
  await peer.close();
});

test('a heartbeat over the socket is answered, and an invalid field is dropped', async (t) => {
  const at = await newAgent();
  const peer = await peerOf(at);
  peer.send({ frame: 'heartbeat', status: 'ok', hostname: 'by-socket', uptimeSeconds: -3, metrics: { cpuPercent: 7 } });
  const answer = await peer.next('heartbeat_ack');
  t.truthy(answer.configVersion);
  t.true(answer.nextHeartbeatSeconds >= 54);
  const [row] = await platform.sql(
    'select d.hostname, s.latest_metrics from devices d join device_state s on s.device_id = d.id where d.id = $1',
    [at.agent.deviceId],
  );
  t.like(row, { hostname: 'by-socket', latest_metrics: { cpuPercent: 7 } });
  await peer.close();
});

test('a newer connection replaces the older one, here and in another process', async (t) => {
  const at = await newAgent();
  const first = await peerOf(at);
  await first.next('connected');
  const second = await peerOf(at);
  t.deepEqual(await first.closed, { code: 4002, reason: 'replaced' });
  const third = await peerOf(at, platform.url);
  t.deepEqual(await second.closed, { code: 4002, reason: 'replaced' });
  t.is((await third.next('connected')).epoch, 3);
  const watchdog = await peerOf(at, platform.url, at.agent.enrolled.watchdogAuthToken);
  t.is((await watchdog.next('connected')).epoch, 1, 'the watchdog has a connection of its own');
  t.is(third.socket.readyState, third.socket.OPEN);
  await Promise.all([third.close(), watchdog.close()]);
});

test('commands that were sent over a lost connection and not started are sent over the next one', async (t) => {
  const at = await newAgent();
  const first = await peerOf(at);
  const id = await order(at);
  await first.next('command', (frame) => frame.id === id);
  first.socket.terminate();
  const second = await peerOf(at, platform.url);
  t.like(await second.next('command'), { id });
  t.true(Number((await commandRow(id)).attempt) >= 2);
  second.send({ frame: 'command_result', commandId: id, status: 'completed', exitCode: 0 });
  await second.next('result_ack');
  t.like(await commandRow(id), { status: 'completed' });
  await second.close();
});

test('a result is accepted from a connection that has been replaced', async (t) => {
  const at = await newAgent();
  const first = await peerOf(at);
  const id = await order(at);
  await first.next('command');
  first.send({ frame: 'ack', commandId: id });
  await first.next('ack_answer');
  const second = await peerOf(at);
  // Sent at the same time as the close, which the agent has not received yet.
  first.send({ frame: 'command_result', commandId: id, status: 'completed', exitCode: 0 });
  await until(async () => ['completed', 'running'].includes(String((await commandRow(id)).status)));
  await second.next('connected');
  if ((await commandRow(id)).status === 'running') {
    second.send({ frame: 'command_result', commandId: id, status: 'completed', exitCode: 0 });
    await second.next('result_ack');
  }
  t.like(await commandRow(id), { status: 'completed' });
  await second.close();
});

test('an agent that may not connect gets an error before the upgrade', async (t) => {
  const [at, stranger] = await Promise.all([newAgent(), newAgent()]);
  const { agentId } = at.agent;
  const open = (token: string, id = agentId) => openPeer(other.url, id, token);
  await t.throwsAsync(open('svc_wrong'), { message: 'refused with 401 UNAUTHENTICATED' });
  await t.throwsAsync(open(''), { message: 'refused with 401 UNAUTHENTICATED' });
  await t.throwsAsync(open(stranger.agent.token), { message: 'refused with 401 UNAUTHENTICATED' });
  await t.throwsAsync(open(at.agent.token, 'nobody'), { message: 'refused with 400 VALIDATION_ERROR' });
  await platform.sql(`update devices set lifecycle = 'quarantined' where id = $1`, [at.agent.deviceId]);
  await t.throwsAsync(open(at.agent.token), { message: 'refused with 403 DEVICE_QUARANTINED' });
  const elsewhere = `${other.url}/api/v1/agent-ws`.replace('http', 'ws');
  const { WebSocket } = await import('ws');
  const lost = new WebSocket(elsewhere);
  await t.throwsAsync(new Promise((_, reject) => lost.once('error', reject)), { message: /404/ });
});

test('more than six connections a minute with one token get 429', async (t) => {
  const at = await newAgent();
  for (let turn = 0; turn < 6; turn++) await (await peerOf(at)).close();
  await t.throwsAsync(peerOf(at), { message: 'refused with 429 RATE_LIMITED' });
});

test('revoked, decommissioned, moved and suspended agents lose their socket within a second', async (t) => {
  const [revoked, gone, moved, suspended, stays] = await Promise.all(Array.from({ length: 5 }, newAgent));
  if (!revoked || !gone || !moved || !suspended || !stays) return t.fail();
  const peers = await Promise.all([revoked, gone, moved, suspended, stays].map((at) => peerOf(at)));
  await Promise.all(peers.map((peer) => peer.next('connected')));
  const begin = performance.now();
  const tell = (channel: string, payload: string) =>
    platform.sql(`select pg_notify('quartermaster', json_build_array($1::text, $2::text)::text)`, [channel, payload]);
  await platform.sql('update agent_credentials set suspended_at = now() where device_id = $1', [
    revoked.agent.deviceId,
  ]);
  await tell('agent', revoked.agent.deviceId);
  const decommissioned = await platform.call('DELETE', `/devices/${gone.agent.deviceId}`, {
    token: gone.orgAdmin.token,
  });
  t.is(decommissioned.status, 200, JSON.stringify(decommissioned.body));
  await platform.sql('update devices set org_id = $2, site_id = $3 where id = $1', [
    moved.agent.deviceId,
    stays.orgId,
    stays.siteId,
  ]);
  await tell('devices.changed', moved.agent.deviceId);
  await platform.sql(`update organizations set status = 'suspended' where id = $1`, [suspended.orgId]);
  const codes = await Promise.all(peers.slice(0, 4).map((peer) => peer.closed));
  t.deepEqual(codes, [
    { code: 4001, reason: 're_enrollment_required' },
    { code: 4003, reason: 'device_decommissioned' },
    { code: 4040, reason: 'moved' },
    { code: 4003, reason: 'tenant_inactive' },
  ]);
  // By a notice, before the periodic check.
  t.true(performance.now() - begin < 4_500, `${performance.now() - begin} ms`);
  t.is(peers[4]?.socket.readyState, 1, 'its neighbour stays connected');
  await t.throwsAsync(peerOf(suspended), { message: 'refused with 403 TENANT_INACTIVE' });
  t.is((await suspended.agent.heartbeat()).status, 200, 'polling goes on');
  await peers[4]?.close();
});

test('a peer that does not answer pings is disconnected, one that does stays', async (t) => {
  const [silent, lively] = await Promise.all([newAgent(), newAgent()]);
  const peer = await openPeer(platform.url, silent.agent.agentId, silent.agent.token, false);
  const alive = await peerOf(lively, platform.url);
  t.is((await peer.closed).code, 4008);
  t.is(alive.socket.readyState, alive.socket.OPEN);
  await alive.close();
});

test('a changed setting is announced on the socket', async (t) => {
  const at = await newAgent();
  const peer = await peerOf(at);
  peer.send({ frame: 'heartbeat' });
  const { configVersion } = await peer.next('heartbeat_ack');
  await platform.sql(
    `update organizations set settings = jsonb_set(settings, '{agents}', '{"heartbeatIntervalSeconds": 120}') where id = $1`,
    [at.orgId],
  );
  await peer.next('config', ({ version }) => version !== configVersion);
  // There may be several announcements; the agent fetches the last version.
  await until(async () => {
    const { body } = await at.agent.call<{ configVersion: string }>('GET', 'config');
    return body.configVersion === peer.frames.findLast(({ frame }) => frame === 'config')?.version;
  });
  t.pass();
  await peer.close();
});

test('an agent that reports an update is shown as updating until its heartbeat names the new version', async (t) => {
  const at = await newAgent();
  const peer = await peerOf(at);
  const status = async () => {
    const { body } = await platform.call<{ data: { status: string } }>('GET', `/devices/${at.agent.deviceId}`, {
      token: at.orgAdmin.token,
    });
    return body.data.status;
  };
  peer.send({ frame: 'update_status', targetVersion: '2.0.0' });
  await until(async () => (await status()) === 'updating');
  peer.send({ frame: 'heartbeat', agentVersion: '2.0.0' });
  await peer.next('heartbeat_ack');
  t.is(await status(), 'online');
  await peer.close();
});
