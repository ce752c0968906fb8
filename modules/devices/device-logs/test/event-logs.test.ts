/** Events of operating systems: taken in, counted, and listed. */
import test from 'ava';
import { type FakeAgent, sharedPlatform, tenant } from '#test';
import { newAgent as enrolledAgent, event, minutesAgo, submitEvents as submit } from './arrange.ts';

const platform = await sharedPlatform();
test.after.always(() => platform.stop());

const newAgent = () => enrolledAgent(platform);
interface Listed {
  id: string;
  eventId: string | null;
  source: string;
  message: string;
  timestamp: string;
  occurrenceCount: number;
  lastOccurredAt: string;
  reportedAt: string | null;
}
interface Listing {
  data: Listed[];
  pagination: { total?: number; page?: number; limit?: number; hasMore?: boolean; cursor?: string | null };
}
const list = async (agent: FakeAgent, token: string, query = '') =>
  (await platform.call<Listing>('GET', `/devices/${agent.deviceId}/eventlogs${query}`, { token })).body;

test('an event is stored with all its fields, and its submission is audited', async (t) => {
  const { agent, orgAdmin, orgId } = await newAgent();
  const sent = event({ details: { service: 'spooler', token: 'x' }, message: 'stopped, password=abc' });
  t.deepEqual((await submit(agent, [sent])).body, { success: true, count: 1 } as never);
  const { data, pagination } = await list(agent, orgAdmin.token);
  t.deepEqual(pagination, { page: 1, limit: 100, total: 1 });
  t.like(data[0], {
    deviceId: agent.deviceId,
    orgId,
    timestamp: sent.timestamp,
    level: 'error',
    category: 'system',
    source: sent.source,
    eventId: '7036',
    message: 'stopped, password=[REDACTED]',
    details: { service: 'spooler', token: '[REDACTED]' },
    occurrenceCount: 1,
    lastOccurredAt: sent.timestamp,
    reportedAt: null,
  });
  const audits = await platform.audits({ action: 'agent.eventlogs.submit', orgId });
  t.is(audits.length, 1);
  t.like(audits[0], {
    actor_type: 'agent',
    resource_type: 'device',
    resource_id: agent.deviceId,
    details: { submitted: 1, inserted: 1, repeated: 0 },
  });
});

test('an event with a known id counts as one more occurrence of the same row, and the first text stays', async (t) => {
  const { agent, orgAdmin } = await newAgent();
  const first = minutesAgo(9);
  t.is((await submit(agent, [event({ timestamp: first })])).body.count, 1);
  const again = [event({ timestamp: minutesAgo(5), message: 'other' }), event({ timestamp: minutesAgo(3) })];
  t.is((await submit(agent, again)).body.count, 0);
  const { data } = await list(agent, orgAdmin.token);
  t.is(data.length, 1);
  t.like(data[0], { timestamp: first, message: 'The service stopped', occurrenceCount: 3 });
  t.is(data[0]?.lastOccurredAt, again[1]?.timestamp);
  // What makes an event another one is its source and its id.
  t.is((await submit(agent, [event({ source: 'disk' }), event({ eventId: '7040' })])).body.count, 2);
});

test('a repeated body, whole, in part or with more, counts nothing twice', async (t) => {
  const { agent, orgAdmin, orgId } = await newAgent();
  const times = [9, 8, 7].map(minutesAgo);
  const body = times.map((timestamp) => event({ timestamp }));
  const single = { ...event({ timestamp: times[0] }), eventId: undefined };
  t.is((await submit(agent, [...body, single, single])).body.count, 2);
  t.deepEqual((await submit(agent, [...body, single])).body, { success: true, count: 0 } as never);
  t.is((await submit(agent, body.slice(0, 2))).body.count, 0);
  t.is((await submit(agent, [...body, event({ timestamp: minutesAgo(1) })])).body.count, 0);
  const { data } = await list(agent, orgAdmin.token);
  t.deepEqual(
    data.map(({ eventId, occurrenceCount }) => [eventId, occurrenceCount]),
    [
      ['7036', 4],
      [null, 1],
    ],
  );
  const audits = await platform.audits({ action: 'agent.eventlogs.submit', orgId });
  t.is(audits.length, 2, 'a body that changed nothing leaves no entry');
});

test('the same events over two connections at once count once each', async (t) => {
  const { agent, orgAdmin } = await newAgent();
  const events = Array.from({ length: 250 }, (_, n) =>
    event({ timestamp: minutesAgo(300 - n), eventId: n % 3 === 0 ? undefined : String(n % 50), message: `n ${n}` }),
  );
  const answers = await Promise.all([1, 2, 3, 4].map(() => submit(agent, events)));
  t.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  t.is(
    answers.reduce((sum, { body }) => sum + body.count, 0),
    84 + 50,
  );
  const { data } = await list(agent, orgAdmin.token, '?limit=500');
  t.is(data.length, 84 + 50);
  t.is(
    data.reduce((sum, { occurrenceCount }) => sum + occurrenceCount, 0),
    250,
  );
});

test('events without an id are stored as single entries, in the same list', async (t) => {
  const { agent, orgAdmin } = await newAgent();
  const events = [5, 4, 3].map((minutes) =>
    event({ timestamp: minutesAgo(minutes), eventId: [undefined, '', null][minutes - 3] }),
  );
  t.is((await submit(agent, events)).body.count, 3);
  const { data, pagination } = await list(agent, orgAdmin.token);
  t.is(pagination.total, 3);
  t.deepEqual(
    data.map(({ eventId, timestamp, occurrenceCount }) => [eventId, timestamp, occurrenceCount]),
    events.map(({ timestamp }) => [null, timestamp, 1]).reverse(),
  );
});

test('a wrong clock neither hides occurrences nor puts them in the future', async (t) => {
  const { agent, orgAdmin } = await newAgent();
  const ahead = '2999-01-01T00:00:00.000Z';
  await submit(agent, [event({ timestamp: ahead })]);
  await submit(agent, [event({ timestamp: ahead })]);
  const [first] = (await list(agent, orgAdmin.token)).data;
  t.like(first, { occurrenceCount: 1, reportedAt: ahead });
  t.true(Date.parse(first?.lastOccurredAt ?? '') <= Date.now());
  // The clock is right again, and later starts from nothing: these lie before the last date that was told.
  await submit(agent, [event({ timestamp: minutesAgo(0) })]);
  await submit(agent, [event({ timestamp: '1970-01-01T00:01:00Z' })]);
  await submit(agent, [event({ timestamp: '1970-01-01T00:01:00Z' })]);
  const [last] = (await list(agent, orgAdmin.token)).data;
  t.is(last?.occurrenceCount, 3);
  t.true(Date.parse(last?.lastOccurredAt ?? '') <= Date.now());
});

test('operators filter by category, level, source and time, in pages and by cursor', async (t) => {
  const { agent, orgAdmin } = await newAgent();
  const events = Array.from({ length: 20 }, (_, n) =>
    event({
      timestamp: minutesAgo(100 - n),
      level: n % 2 ? 'info' : 'critical',
      category: n % 5 ? 'application' : 'security',
      source: n < 10 ? 'alpha' : 'beta',
      eventId: n % 4 ? String(n) : undefined,
      message: `n ${n}`,
    }),
  );
  t.is((await submit(agent, events)).body.count, 20);
  const total = async (query: string) => (await list(agent, orgAdmin.token, query)).pagination.total;
  t.is(await total('?category=security'), 4);
  t.is(await total('?level=critical'), 10);
  t.is(await total('?source=alpha'), 10);
  t.is(await total('?source=ALPHA'), 0);
  t.is(await total('?category=application&level=info&source=beta'), 4);
  t.is(await total(`?startDate=${events[5]?.timestamp}&endDate=${events[8]?.timestamp}`), 4);
  const newestFirst = Array.from({ length: 20 }, (_, n) => `n ${19 - n}`);
  const paged: string[] = [];
  for (const page of [1, 2, 3]) {
    const { data, pagination } = await list(agent, orgAdmin.token, `?page=${page}&limit=8`);
    t.deepEqual(pagination, { page, limit: 8, total: 20 });
    paged.push(...data.map(({ message }) => message));
  }
  t.deepEqual(paged, newestFirst);
  const walked: string[] = [];
  let cursor: string | null | undefined = '';
  while (cursor != null) {
    const { data, pagination }: Listing = await list(agent, orgAdmin.token, `?limit=3&cursor=${cursor}`);
    walked.push(...data.map(({ message }) => message));
    cursor = pagination.cursor;
  }
  t.deepEqual(walked, newestFirst);
  t.is((await list(agent, orgAdmin.token, '?limit=9999')).pagination.limit, 500);
  for (const query of ['?level=loud', '?category=none', '?startDate=soon', '?page=1&cursor=']) {
    const { status } = await platform.call('GET', `/devices/${agent.deviceId}/eventlogs${query}`, {
      token: orgAdmin.token,
    });
    t.is(status, 400, query);
  }
});

test('a recurring event is found by any time between its first and its last occurrence', async (t) => {
  const { agent, orgAdmin } = await newAgent();
  await submit(agent, [event({ timestamp: minutesAgo(50) }), event({ timestamp: minutesAgo(10) })]);
  const found = async (from: number, to: number) =>
    (await list(agent, orgAdmin.token, `?startDate=${minutesAgo(from)}&endDate=${minutesAgo(to)}`)).data.length;
  t.is(await found(60, 40), 1);
  t.is(await found(40, 20), 1);
  t.is(await found(20, 5), 1);
  t.is(await found(90, 60), 0);
  t.is(await found(5, 0), 0);
});

test('other tenants cannot read events, and a viewer can', async (t) => {
  const [{ agent, viewer }, stranger] = await Promise.all([newAgent(), tenant(platform)]);
  await submit(agent, [event()]);
  t.is((await list(agent, viewer.token)).data.length, 1);
  for (const { token } of [stranger.partner, stranger.orgAdmin]) {
    t.is((await platform.call('GET', `/devices/${agent.deviceId}/eventlogs`, { token })).status, 404);
  }
});

test('only the main agent reports events, and not while its tenant is suspended', async (t) => {
  const { agent, orgId } = await newAgent();
  const { watchdogAuthToken } = agent.enrolled;
  t.is((await agent.call('PUT', 'eventlogs', { events: [event()] }, watchdogAuthToken)).status, 403);
  t.is((await submit(agent, [event()])).status, 200);
  await platform.sql(`update organizations set status = 'suspended' where id = $1`, [orgId]);
  const answer = async (): Promise<number> => {
    const { status } = await submit(agent, [event({ eventId: '1' })]);
    return status === 200 ? answer() : status;
  };
  t.is(await answer(), 403, 'within a second');
  t.is((await agent.call('POST', 'logs', { logs: [] })).status, 201);
});

test('invalid events are rejected with their position, and no event of their body is stored', async (t) => {
  const { agent } = await newAgent();
  const bad: [string, unknown][] = [
    ['timestamp', undefined],
    ['timestamp', 'noon'],
    ['level', 'information'],
    ['category', 'network'],
    ['source', undefined],
    ['source', ' '],
    ['source', 's'.repeat(256)],
    ['eventId', 'e'.repeat(101)],
    ['eventId', {}],
    ['message', undefined],
    ['message', 1],
    ['details', 'text'],
  ];
  for (const [key, value] of bad) {
    const { status, body } = await submit(agent, [event(), event({ [key]: value })]);
    t.is(status, 400, key);
    t.is(body.error.details[0]?.path, `events.1.${key}`);
  }
  t.is((await submit(agent, Array(5001).fill(event()))).status, 400);
  t.is((await agent.call('PUT', 'eventlogs', {})).status, 400);
  t.deepEqual(await platform.sql('select 1 from device_event_logs where device_id = $1', [agent.deviceId]), []);
  t.like((await submit(agent, [])).body, { success: true, count: 0 });
});

test('missing fields have defaults, numbers are ids, and a long message is truncated', async (t) => {
  const { agent, orgAdmin } = await newAgent();
  const sent = { timestamp: minutesAgo(1), source: 'kernel', eventId: 41, message: 'm'.repeat(3000), newer: true };
  t.is((await submit(agent, [sent])).body.count, 1);
  const [row] = (await list(agent, orgAdmin.token)).data;
  t.like(row, { level: 'info', category: 'application', eventId: '41', source: 'kernel' });
  t.is(row?.message, `${'m'.repeat(1960)}…[truncated 1040 characters]`);
});

test('a device may send 5,000 events per hour, and the error says when it may continue', async (t) => {
  const { agent } = await newAgent();
  const many = (count: number, from = 0) => Array.from({ length: count }, (_, n) => event({ eventId: `${from + n}` }));
  t.is((await submit(agent, many(4990))).body.count, 4990);
  const answers = await Promise.all([submit(agent, many(8, 6000)), submit(agent, many(8, 7000))]);
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 429]);
  const refused = answers.find(({ status }) => status === 429);
  const seconds = Number(refused?.headers.get('retry-after'));
  t.true(seconds >= 1 && seconds <= 3600);
  t.is(refused?.body.error.code, 'RATE_LIMITED');
  await platform.sql(`update device_event_quotas set hour = hour - interval '1 hour' where device_id = $1`, [
    agent.deviceId,
  ]);
  t.is((await submit(agent, many(8, 8000))).status, 200);
});
