/** Offers in the answers to heartbeats, and how many statements they cost. */
import test from 'ava';
import { systemUser, tenant } from '#test';
import {
  attempts,
  forget,
  layOut,
  newAgent,
  programOf,
  report,
  runJob,
  sendHeartbeat,
  setPolicy,
  sha256,
  startLocal,
  sync,
  versionId,
} from './ground.ts';

const { test: platform, folder } = await startLocal();
const admin = await systemUser(platform);
const quiet = await startLocal();
await layOut(folder, '1.0.0');
await layOut(folder, '2.0.0', ['agent-linux-amd64', 'watchdog-linux-amd64']);
await sync(platform, admin.token, '1.0.0');
await sync(platform, admin.token, '2.0.0');
test.after.always(async () => {
  await platform.stop();
  await quiet.test.stop();
});

/** Counts the statements that reach the database. */
const statements = async (run: () => Promise<unknown>): Promise<number> => {
  const { database } = platform.platform.tasks.work;
  let count = 0;
  const pools = [database.app, database.platform];
  const clients = new Set<object>();
  const watch = (client: { query: unknown }) => {
    if (clients.has(client)) return;
    clients.add(client);
    const inner = client.query as (...args: unknown[]) => unknown;
    client.query = (...args: unknown[]) => {
      const [first] = args;
      const text = typeof first === 'string' ? first : ((first as { text?: string })?.text ?? '');
      if (/agent_update|agent_versions|agent_rollout/.test(text)) count += 1;
      return inner.apply(client, args);
    };
  };
  for (const pool of pools) pool.on('acquire', watch as never);
  await run();
  for (const pool of pools) pool.off('acquire', watch as never);
  return count;
};

test('an outdated agent is offered the latest version until its update begins', async (t) => {
  const agent = await newAgent(platform, await tenant(platform));
  const first = await sendHeartbeat(agent);
  const sum = sha256(programOf('2.0.0', 'agent-linux-amd64'));
  t.deepEqual(first.upgradeTo, {
    version: '2.0.0',
    url: `/api/v1/agent-versions/2.0.0/download?platform=linux&arch=amd64&component=agent&agentId=${agent.agentId}`,
    sha256: sum,
  });
  t.like(first, { watchdogUpgradeTo: null });
  const link = await platform.call<{ url: string; checksum: string }>('GET', first.upgradeTo?.url.slice(7) ?? '', {
    token: agent.token,
  });
  t.is(link.body.checksum, sum);
  t.deepEqual((await sendHeartbeat(agent)).upgradeTo, first.upgradeTo, 'the first answer may have been lost');
  t.deepEqual(
    (await attempts(platform, agent.deviceId)).map(({ state, attempt, to_version }) => [state, attempt, to_version]),
    [['offered', 1, '2.0.0']],
  );
  await report(agent, '2.0.0', 'downloading');
  t.is((await sendHeartbeat(agent)).upgradeTo, null);
});

test('the running version decides: success needs no acknowledgement and makes one event', async (t) => {
  const at = await tenant(platform);
  const agent = await newAgent(platform, at);
  await sendHeartbeat(agent);
  t.is((await sendHeartbeat(agent, '2.0.0')).upgradeTo, null);
  t.is((await attempts(platform, agent.deviceId))[0]?.state, 'succeeded');
  await sendHeartbeat(agent, '2.0.0');
  const entries = await platform.audits({ action: 'agent.update.succeeded', orgId: at.orgId });
  t.deepEqual(
    entries.map(({ actor_type, actor_id, resource_id, details }) => [actor_type, actor_id, resource_id, details.to]),
    [['agent', agent.deviceId, agent.deviceId, '2.0.0']],
  );
  const [event] = await platform.sql(
    `select count(*)::int as n from events where name = 'agent-versions.update.succeeded' and org_id = $1`,
    [at.orgId],
  );
  t.deepEqual(event, { n: 1 });
});

test('one program of a device is updated at a time: the watchdog waits for the agent', async (t) => {
  const agent = await newAgent(platform, await tenant(platform));
  const both = { agentVersion: '1.0.0', watchdogVersion: '1.0.0' };
  const first = await sendHeartbeat(agent, both);
  t.deepEqual([first.upgradeTo?.version, first.watchdogUpgradeTo], ['2.0.0', null]);
  const second = await sendHeartbeat(agent, { ...both, agentVersion: '2.0.0' });
  t.deepEqual([second.upgradeTo, second.watchdogUpgradeTo?.version], [null, '2.0.0']);
  const watchdog = await sendHeartbeat(agent, '1.0.0', agent.enrolled.watchdogAuthToken);
  t.deepEqual([watchdog.upgradeTo, watchdog.watchdogUpgradeTo?.version], [null, '2.0.0']);
});

for (const [what, change, back] of [
  [
    'its operators switched updates off',
    `update devices set auto_update_enabled = false where id = $1`,
    `update devices set auto_update_enabled = true where id = $1`,
  ],
  [
    'it is in maintenance',
    `update devices set maintenance_until = now() + interval '1 hour' where id = $1`,
    `update devices set maintenance_until = null where id = $1`,
  ],
  [
    'a command runs on it',
    `insert into device_commands (device_id, org_id, submitted_org_id, type, source, status, deliver_by, execution_timeout_seconds, sent_at) select id, org_id, org_id, 'script', 'user', 'running', now() + interval '1 day', 300, now() from devices where id = $1`,
    `update device_commands set status = 'completed', finished_at = now() where device_id = $1`,
  ],
  [
    'its organization is suspended',
    `update organizations set status = 'suspended' where id = (select org_id from devices where id = $1)`,
    `update organizations set status = 'active' where id = (select org_id from devices where id = $1)`,
  ],
  [
    'it is quarantined',
    `update devices set lifecycle = 'quarantined' where id = $1`,
    `update devices set lifecycle = 'active' where id = $1`,
  ],
] as const) {
  test.serial(`a device is offered nothing while ${what}`, async (t) => {
    const agent = await newAgent(platform, await tenant(platform));
    await platform.sql(change, [agent.deviceId]);
    t.is((await sendHeartbeat(agent)).upgradeTo, null);
    t.deepEqual(await attempts(platform, agent.deviceId), []);
    await platform.sql(back, [agent.deviceId]);
    forget(platform);
    t.is((await sendHeartbeat(agent)).upgradeTo?.version, '2.0.0');
  });
}

test.serial('an answer that carries commands makes no offer', async (t) => {
  const at = await tenant(platform);
  const agent = await newAgent(platform, at);
  await platform.call('POST', `/devices/${agent.deviceId}/commands`, {
    token: at.orgAdmin.token,
    body: { type: 'lock' },
  });
  t.is((await sendHeartbeat(agent)).upgradeTo, null);
  t.deepEqual(await attempts(platform, agent.deviceId), []);
});

test.serial('policies: the organization before the partner, pins, manual mode, downgrades', async (t) => {
  const at = await tenant(platform);
  const agent = await newAgent(platform, at);
  await setPolicy(platform, { partnerId: at.partnerId }, { mode: 'manual' });
  t.is((await sendHeartbeat(agent)).upgradeTo, null);
  await setPolicy(platform, { orgId: at.orgId }, { mode: 'auto' });
  const up = (await sendHeartbeat(agent)).upgradeTo;
  t.is(up?.version, '2.0.0');
  t.is(up?.allowDowngrade, undefined);
  await sendHeartbeat(agent, '2.0.0');
  await setPolicy(platform, { orgId: at.orgId }, { pinnedVersion: '1.0.0' });
  t.is((await sendHeartbeat(agent, '2.0.0')).upgradeTo, null);
  await setPolicy(platform, { orgId: at.orgId }, { pinnedVersion: '1.0.0', allowDowngrade: true });
  t.like((await sendHeartbeat(agent, '2.0.0')).upgradeTo, { version: '1.0.0', allowDowngrade: true });
});

test.serial('tenants set their policy in their settings, and invalid policies are rejected', async (t) => {
  const at = await tenant(platform);
  const write = (policy: object) =>
    platform.call('PATCH', `/orgs/organizations/${at.orgId}`, {
      token: at.partner.token,
      body: { settings: { 'agent-versions': policy } },
    });
  t.is((await write({ mode: 'staged' })).status, 200);
  t.is((await write({ mode: 'whenever' })).status, 400);
});

test.serial('a newer version replaces an offer that was not taken up', async (t) => {
  const agent = await newAgent(platform, await tenant(platform));
  await sendHeartbeat(agent);
  await layOut(folder, '2.1.0', ['agent-linux-amd64']);
  await sync(platform, admin.token, '2.1.0');
  t.is((await sendHeartbeat(agent)).upgradeTo?.version, '2.1.0', 'all processes drop their caches');
  t.deepEqual(
    (await attempts(platform, agent.deviceId)).map(({ state, reason }) => [state, reason]),
    [
      ['failed', 'superseded'],
      ['offered', null],
    ],
  );
  await platform.call('POST', `/agent-versions/${await versionId(platform, '2.1.0')}/withdraw`, { token: admin.token });
  t.is((await attempts(platform, agent.deviceId))[1]?.reason, 'withdrawn');
  t.is((await sendHeartbeat(agent)).upgradeTo?.version, '2.0.0');
});

test.serial('a device that is up to date costs no statement, and new devices share theirs', async (t) => {
  const at = await tenant(platform);
  const agents = await Promise.all(Array.from({ length: 40 }, () => newAgent(platform, at, { agentVersion: '2.0.0' })));
  const first = await statements(() => Promise.all(agents.map((agent) => sendHeartbeat(agent, '2.0.0'))));
  t.true(first > 0 && first <= 16, `${first} statements for the first heartbeats of 40 devices`);
  const later = await statements(async () => {
    for (let round = 0; round < 5; round += 1) await Promise.all(agents.map((agent) => sendHeartbeat(agent, '2.0.0')));
  });
  t.is(later, 0);
});

test('without any registered version there is no statement at all', async (t) => {
  const agent = await newAgent(quiet.test, await tenant(quiet.test));
  t.is((await sendHeartbeat(agent)).upgradeTo, null);
  await runJob(quiet.test, 'evaluate-rings');
});
