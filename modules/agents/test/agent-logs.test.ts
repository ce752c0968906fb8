/** What agents write about themselves, stored and read. */
import test from 'ava';
import { enrollAgent, enrollmentKey, startTestPlatform, tenant } from '#test';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

const newAgent = async () => {
  const at = await tenant(platform);
  return { ...at, agent: await enrollAgent(platform, { key: await enrollmentKey(platform, at) }) };
};
interface LogPage {
  logs: { message: string; level: string }[];
  total: number;
}

test('log lines are stored without secrets, and a clock that runs ahead is set right', async (t) => {
  const { agent } = await newAgent();
  const line = { level: 'warn', component: 'updater', agentVersion: '1.0.0' };
  const logs = [
    {
      ...line,
      timestamp: new Date().toISOString(),
      message: 'password=hunter2 and svc_0123456789abcdef0123',
      fields: { token: 'x', n: 1 },
    },
    { ...line, timestamp: '2150-01-01T00:00:00Z', message: 'tomorrow' },
  ];
  const { status, body } = await agent.call('POST', 'logs', { logs });
  t.is(status, 201);
  t.deepEqual(body, { received: 2 });
  const rows = await platform.sql<{ message: string; fields: object; timestamp: Date }>(
    'select message, fields, timestamp from agent_logs where device_id = $1 order by message',
    [agent.deviceId],
  );
  t.is(rows[0]?.message, 'password=[REDACTED] and [REDACTED]');
  t.deepEqual(rows[0]?.fields, { token: '[REDACTED]', n: 1 });
  t.true((rows[1]?.timestamp.getTime() ?? Infinity) <= Date.now());
  const many = { logs: Array(501).fill(logs[0]) };
  t.is((await agent.call('POST', 'logs', many)).status, 400);
});

test('operators read them newest first, by level, component, time and text; other tenants find nothing', async (t) => {
  const [{ agent, orgAdmin }, stranger] = await Promise.all([newAgent(), tenant(platform)]);
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
  const logs = Array.from({ length: 12 }, (_, n) => ({
    timestamp: at(n),
    level: n % 3 === 0 ? 'error' : 'info',
    component: n % 2 === 0 ? 'ws' : 'updater',
    message: n === 5 ? 'reached 100% of it' : `line ${n}`,
  }));
  t.is((await agent.call('POST', 'logs', { logs })).status, 201);
  const list = (query: string, token = orgAdmin.token) =>
    platform.call<LogPage>('GET', `/devices/${agent.deviceId}/diagnostic-logs?${query}`, { token });
  const first = await list('limit=5&page=2');
  t.like(first.body, { total: 12, limit: 5, offset: 5 });
  t.deepEqual(
    first.body.logs.map(({ message }) => message),
    ['line 6', 'reached 100% of it', 'line 4', 'line 3', 'line 2'],
  );
  t.is((await list('level=error')).body.total, 4);
  t.is((await list('level=error,info&component=ws')).body.total, 6);
  t.is((await list(`since=${at(2)}&until=${at(4)}`)).body.total, 3);
  t.is((await list('search=00%25%20OF')).body.total, 1);
  t.is((await list('search=%25')).body.total, 1, 'a percent sign is a percent sign');
  t.like((await list('limit=5000')).body, { limit: 1000 });
  t.is((await list('level=loud')).status, 400);
  for (const person of [stranger.partner, stranger.orgAdmin]) t.is((await list('', person.token)).status, 404);
});

test('logs past their retention leave with their day', async (t) => {
  const { agent, orgId } = await newAgent();
  await agent.call('POST', 'logs', {
    logs: [{ timestamp: new Date().toISOString(), level: 'info', component: 'ws', message: 'today' }],
  });
  const old = new Date(Date.now() - 20 * 86_400_000).toISOString().slice(0, 10);
  const partition = `agent_logs_y${old.slice(0, 4)}m${old.slice(5, 7)}d${old.slice(8, 10)}`;
  await platform.sql(
    `create table ${partition} partition of agent_logs for values from ('${old} 00:00Z') to ('${old} 23:00Z')`,
  );
  await platform.sql(
    `insert into agent_logs (device_id, org_id, timestamp, level, component, message, created_at)
     values ($1, $2, now(), 'info', 'ws', 'old', '${old} 12:00Z')`,
    [agent.deviceId, orgId],
  );
  await platform.sql(
    `select graphile_worker.add_job('agents/drop-old-logs', json_build_object('orgId', null, 'requestId', 'test', 'data', '{}'::json))`,
  );
  await platform.runJobs();
  const left = await platform.sql('select message from agent_logs where device_id = $1', [agent.deviceId]);
  t.deepEqual(left, [{ message: 'today' }]);
});
