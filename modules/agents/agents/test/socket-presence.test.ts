/** The effect of an open socket on the presence of its device, and of changed tokens, addresses and processes on it. */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import test from 'ava';
import { WebSocket } from 'ws';
import { enrollAgent, enrollmentKey, startTestPlatform, tenant, until } from '#test';
import { openPeer } from './socket-client.ts';

const platform = await startTestPlatform({ AGENT_PING_SECONDS: '1', TRUST_PROXY_HEADERS: 'true' });
test.after.always(() => platform.stop());

const newAgent = async () => {
  const at = await tenant(platform);
  return { ...at, agent: await enrollAgent(platform, { key: await enrollmentKey(platform, at) }) };
};

const tell = (channel: string, payload: string) =>
  platform.sql(`select pg_notify('quartermaster', json_build_array($1::text, $2::text)::text)`, [channel, payload]);

test.serial(
  'connections of a dead process are removed as soon as another process marks itself as running',
  async (t) => {
    const at = await newAgent();
    const dead = randomUUID();
    await platform.sql(`insert into agent_nodes (id, seen_at) values ($1, now() - interval '2 minutes')`, [dead]);
    await platform.sql(
      `insert into agent_connections (device_id, role, org_id, node_id, epoch) values ($1, 'watchdog', $2, $3, 7)`,
      [at.agent.deviceId, at.orgId, dead],
    );
    // The first socket of this process registers it.
    const peer = await openPeer(platform.url, at.agent.agentId, at.agent.token);
    await peer.next('connected');
    const [row] = await platform.sql(
      `select node_id, last_disconnect_at is not null as noted, epoch::int as epoch from agent_connections
     where device_id = $1 and role = 'watchdog'`,
      [at.agent.deviceId],
    );
    t.deepEqual(row, { node_id: null, noted: true, epoch: 7 });
    t.is((await platform.sql('select 1 from agent_nodes where id = $1', [dead])).length, 0);
    await peer.close();
  },
);

test('a device whose agent only answers pings stays online', async (t) => {
  const at = await newAgent();
  const forget = () =>
    platform.sql(
      `update device_state set last_seen_at = now() - interval '4 minutes', connectivity = 'offline' where device_id = $1`,
      [at.agent.deviceId],
    );
  const seen = async () => {
    const [row] = await platform.sql<{ connectivity: string; recent: boolean }>(
      `select connectivity, last_seen_at > now() - interval '1 minute' as recent from device_state where device_id = $1`,
      [at.agent.deviceId],
    );
    return row?.connectivity === 'online' && row.recent;
  };
  await forget();
  const peer = await openPeer(platform.url, at.agent.agentId, at.agent.token);
  // Once for the connection, and again after some pings.
  await until(seen);
  await forget();
  await until(seen);
  t.false(
    peer.frames.some(({ frame }) => frame === 'heartbeat_ack'),
    'nobody beat',
  );
  await peer.close();
});

test('a socket from another address is recorded and audited like a heartbeat from there', async (t) => {
  const at = await newAgent();
  const connectFrom = async (address: string) => {
    const socket = new WebSocket(`${platform.url.replace('http', 'ws')}/api/v1/agent-ws/${at.agent.agentId}/ws`, {
      headers: { authorization: `Bearer ${at.agent.token}`, 'x-forwarded-for': address },
    });
    await new Promise((resolve) => socket.once('message', resolve));
    await until(async () => {
      const [row] = await platform.sql('select last_seen_ip as ip from device_state where device_id = $1', [
        at.agent.deviceId,
      ]);
      return row?.ip === address;
    });
    socket.close();
  };
  await connectFrom('203.0.113.5');
  await connectFrom('203.0.113.6');
  await until(async () => {
    const entries = await platform.audits({ action: 'agent.source.ip.changed', orgId: at.orgId });
    return isDeepStrictEqual(entries.at(-1)?.details, { from: '203.0.113.5', to: '203.0.113.6' });
  });
  t.pass();
});

test('a rotation leaves the open socket alone; when the old token ends the agent only has to reconnect', async (t) => {
  const at = await newAgent();
  const { agent } = at;
  const peer = await openPeer(platform.url, agent.agentId, agent.token);
  await peer.next('connected');
  const rotated = await agent.call<{ authToken: string }>('POST', 'rotate-token', {});
  await agent.call('POST', 'rotate-token/confirm', {}, rotated.body.authToken);
  const made = await platform.call('POST', `/devices/${agent.deviceId}/commands`, {
    token: at.orgAdmin.token,
    body: { type: 'lock' },
  });
  t.is(made.status, 201);
  t.truthy(await peer.next('command'), 'the socket of the old token stays open');
  await platform.sql(
    `update agent_credentials set expires_at = now() - interval '1 second' where device_id = $1 and state = 'previous'`,
    [agent.deviceId],
  );
  await tell('agent', agent.deviceId);
  t.deepEqual(await peer.closed, { code: 4040, reason: 'token replaced' });
  const next = await openPeer(platform.url, agent.agentId, rotated.body.authToken);
  t.like(await next.next('connected'), { epoch: 2 });
  await next.close();
});
