/** What agents write about themselves, stored and read. */
import test from 'ava';
import { type ErrorBody, orgUser, sharedPlatform, tenant } from '#test';
import { newAgent as enrolledAgent, runJob } from './arrange.ts';

const platform = await sharedPlatform();
test.after.always(() => platform.stop());

const newAgent = () => enrolledAgent(platform);
interface LogPage {
  logs: { message: string; level: string }[];
  total: number;
}

test('log lines are stored without secrets, and the time of a clock that runs ahead is corrected', async (t) => {
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

test('operators read them newest first, by level, component, time and text; other tenants get 404', async (t) => {
  const [{ agent, orgAdmin }, stranger] = await Promise.all([newAgent(), tenant(platform)]);
  const start = Date.now() - 3_600_000;
  const at = (minute: number) => new Date(start + minute * 60_000).toISOString();
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

test('logs past their retention are dropped with their day, and the job is in the history of the queue', async (t) => {
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
  await runJob(platform, 'drop-old-days');
  const left = await platform.sql('select message from agent_logs where device_id = $1', [agent.deviceId]);
  t.deepEqual(left, [{ message: 'today' }]);
});

test('a time far behind or ahead is stored in addition to the time of arrival, in the order of the body', async (t) => {
  const { agent, orgAdmin } = await newAgent();
  const line = { level: 'info', component: 'ws' };
  const before = Date.now();
  const logs = ['1970-01-01T00:00:01Z', '1970-01-01T00:00:02Z', '2999-01-01T00:00:00Z'].map((timestamp, index) => ({
    ...line,
    timestamp,
    message: `wrong ${index}`,
  }));
  const right = new Date(before - 86_400_000).toISOString();
  logs.push({ ...line, timestamp: right, message: 'right' });
  t.is((await agent.call('POST', 'logs', { logs })).status, 201);
  const { body } = await platform.call<{ logs: { message: string; timestamp: string; reportedAt: string | null }[] }>(
    'GET',
    `/devices/${agent.deviceId}/diagnostic-logs`,
    { token: orgAdmin.token },
  );
  t.deepEqual(
    body.logs.map(({ message, reportedAt }) => [message, reportedAt]),
    [
      ['wrong 2', '2999-01-01T00:00:00.000Z'],
      ['wrong 1', '1970-01-01T00:00:02.000Z'],
      ['wrong 0', '1970-01-01T00:00:01.000Z'],
      ['right', null],
    ],
  );
  t.is(body.logs[3]?.timestamp, right);
  const arrival = Date.parse(body.logs[0]?.timestamp ?? '');
  t.true(arrival >= before && arrival <= Date.now());
  const edges = ['0000-01-01T00:00:00Z', '+012345-01-01T00:00:00Z'].map((timestamp) => ({ ...logs[0], timestamp }));
  t.is((await agent.call('POST', 'logs', { logs: edges })).status, 201, 'years that the database cannot hold');
});

test('invalid lines are rejected with their position, and no line of their body is stored', async (t) => {
  const { agent } = await newAgent();
  const line = { timestamp: new Date().toISOString(), level: 'info', component: 'ws', message: 'm' };
  let deep: object = {};
  for (let level = 0; level < 12; level++) deep = { deep };
  const bad: [string, unknown][] = [
    ['timestamp', 'yesterday'],
    ['timestamp', undefined],
    ['level', 'warning'],
    ['component', ''],
    ['component', '\0'],
    ['component', 'c'.repeat(101)],
    ['message', 7],
    ['message', 'm'.repeat(100_001)],
    ['fields', 'text'],
    ['fields', [1]],
    ['fields', deep],
    ['fields', { text: 'x'.repeat(40_000) }],
    ['agentVersion', 'v'.repeat(51)],
  ];
  for (const [key, value] of bad) {
    const { status, body } = await agent.call<ErrorBody>('POST', 'logs', { logs: [line, { ...line, [key]: value }] });
    t.is(status, 400, key);
    t.is(body.error.details[0]?.path, `logs.1.${key}`);
  }
  for (const body of [{}, { logs: {} }, [], 'null', '{"logs":[{"__proto__":1}]}'])
    t.is((await agent.call('POST', 'logs', body)).status, 400);
  t.like((await agent.call('POST', 'logs', { logs: [] })).body, { received: 0 });
  t.deepEqual(await platform.sql('select 1 from agent_logs where device_id = $1', [agent.deviceId]), []);
});

test('characters that the database cannot store, and unknown fields of newer agents, do not fail a body', async (t) => {
  const { agent } = await newAgent();
  const line = { timestamp: '2026-11-01T10:00:00+02:00', level: 'warn', component: ' ws ', mood: 'fine' };
  const fields = { 'a\0b': 'c\0\ud800d', list: [{ password: 'p' }], note: 'token=abc' };
  t.is((await agent.call('POST', 'logs', { logs: [{ ...line, message: 'a\0\udc00b', fields }], more: 1 })).status, 201);
  const rows = await platform.sql('select component, message, fields from agent_logs where device_id = $1', [
    agent.deviceId,
  ]);
  t.deepEqual(rows, [
    {
      component: 'ws',
      message: 'a\ufffdb',
      fields: { ab: 'c\ufffdd', list: [{ password: '[REDACTED]' }], note: 'token=[REDACTED]' },
    },
  ]);
});

test('the cursor returns every line once, also those of one instant, and is invalid in other lists', async (t) => {
  const { agent, orgAdmin } = await newAgent();
  const timestamp = new Date().toISOString();
  const logs = Array.from({ length: 23 }, (_, n) => ({ timestamp, level: 'info', component: 'ws', message: `${n}` }));
  await agent.call('POST', 'logs', { logs });
  interface CursorPage {
    data: { message: string; sort?: string }[];
    pagination: { hasMore: boolean; cursor: string | null };
  }
  const get = (query: string) =>
    platform.call<CursorPage & ErrorBody>('GET', `/devices/${agent.deviceId}/${query}`, { token: orgAdmin.token });
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: Awaited<ReturnType<typeof get>> = await get(`diagnostic-logs?limit=5&cursor=${cursor}`);
    t.is(page.status, 200);
    seen.push(...page.body.data.map(({ message }) => message));
    t.is(page.body.data[0]?.sort, undefined);
    t.is(page.body.pagination.hasMore, page.body.pagination.cursor !== null);
    cursor = page.body.pagination.cursor;
  }
  t.is(seen.length, 23);
  t.is(new Set(seen).size, 23);
  const { cursor: mine } = (await get('diagnostic-logs?limit=5&cursor=')).body.pagination;
  const forged = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
  for (const query of [
    `eventlogs?cursor=${mine}`,
    'diagnostic-logs?cursor=nonsense',
    `diagnostic-logs?cursor=${forged('diagnostic-logs', 'now', 'me')}`,
    `diagnostic-logs?cursor=${forged('diagnostic-logs', null, null)}`,
  ]) {
    t.like(await get(query), { status: 400, body: { error: { code: 'INVALID_CURSOR' } } }, query);
  }
  t.is((await get(`diagnostic-logs?page=1&cursor=${mine}`)).status, 400);
});

test('a caller limited to sites or groups reads only the logs of their devices', async (t) => {
  const { agent, orgId, siteId } = await newAgent();
  const stranger = await tenant(platform);
  const read = async (limits: { siteIds?: string[]; deviceGroupIds?: string[] }) => {
    const { token } = await orgUser(platform, { orgId, ...limits });
    const paths = ['diagnostic-logs', 'eventlogs'].map((path) => `/devices/${agent.deviceId}/${path}`);
    return Promise.all(paths.map(async (path) => (await platform.call('GET', path, { token })).status));
  };
  t.deepEqual(await read({ siteIds: [siteId] }), [200, 200]);
  t.deepEqual(await read({ siteIds: [stranger.siteId] }), [404, 404]);
  t.deepEqual(await read({ deviceGroupIds: [stranger.siteId] }), [404, 404]);
});

test('an agent writes only for its own device, and not after its purge', async (t) => {
  const [{ agent }, other] = await Promise.all([newAgent(), newAgent()]);
  const logs = [{ timestamp: new Date().toISOString(), level: 'info', component: 'ws', message: 'm' }];
  const post = (agentId: string) =>
    platform.call('POST', `/agents/${agentId}/logs`, { token: agent.token, body: { logs } });
  t.is((await post(other.agent.agentId)).status, 401);
  t.is((await post('0'.repeat(64))).status, 401);
  t.is((await post('nobody')).status, 401);
  // The token is still in memory: what is asked is whether a device is there to write for.
  t.is((await post(agent.agentId)).status, 201);
  await platform.sql('delete from devices where id = $1', [agent.deviceId]);
  t.true([404, 410].includes((await post(agent.agentId)).status));
  t.is((await platform.sql('select 1 from agent_logs where device_id = $1', [agent.deviceId])).length, 1);
});

test('the search ignores case in any script, and counts its results', async (t) => {
  const { agent, orgAdmin } = await newAgent();
  const logs = ['Größe FALSCH', 'grün und 100%', 'Groesse falsch', 'other'].map((message) => ({
    timestamp: new Date().toISOString(),
    level: 'info',
    component: 'ws',
    message,
  }));
  t.is((await agent.call('POST', 'logs', { logs })).status, 201);
  const total = async (search: string, more = '') =>
    (
      await platform.call<{ total: number }>(
        'GET',
        `/devices/${agent.deviceId}/diagnostic-logs?search=${encodeURIComponent(search)}${more}`,
        { token: orgAdmin.token },
      )
    ).body.total;
  t.is(await total('FALSCH'), 2);
  t.is(await total('falsch', '&limit=1'), 2);
  t.is(await total('falsch', '&limit=1&page=2'), 2);
  t.is(await total('falsch', '&limit=1&page=3'), 2);
  t.is(await total('GRÖ'), 1);
  t.is(await total('0%'), 1);
  t.is(await total('_'), 0);
  t.is(await total('nothing'), 0);
});
