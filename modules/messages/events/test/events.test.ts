/** GET /events and /events/history: what a follower sees, over real sockets, across restarts, and when it is shut out. */
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import test from 'ava';
import type { ErrorBody, Person } from '#test';
import {
  EventReader,
  emitNamed,
  joinTestPlatform,
  organization,
  orgUser,
  settled,
  startTestPlatform,
  type Tenant,
  tenant,
} from '#test';
import { asPlatform, enroll } from '../../../devices/devices/test/arrange.ts';

const platform = await startTestPlatform();
const readers: EventReader[] = [];
test.after.always(async () => {
  for (const reader of readers) reader.close();
  await platform.stop();
});

interface Message {
  id: string;
  type: string;
  timestamp: string;
  apiVersion: string;
  orgId: string;
  correlationId: string;
  causationId: string | null;
  depth: number;
  data: Record<string, unknown>;
}
interface History {
  data: Message[];
  pagination: { hasMore: boolean; cursor: string | null; total: number };
}
type Where = { siteId?: string; deviceId?: string };

async function open({ token }: Person, more: { query?: string; lastEventId?: string } = {}, at = platform.url) {
  const reader = await EventReader.open(at, '/events', { token, ...more });
  readers.push(reader);
  if (reader.status === 200) await reader.until(() => reader.lastId !== '');
  return reader;
}
/** Tells that a device's fields changed; the host name says which one it was. */
const emit = (orgId: string, name: string, where: Where = {}) =>
  asPlatform(platform, async (ctx) =>
    emitNamed(ctx, 'devices.updated', { changedFields: [name] }, { orgId, ...where }),
  );
const fieldOf = ({ data }: { data: Record<string, unknown> }) =>
  (data.changedFields as string[] | undefined)?.[0] ?? String(data.type ?? '');
const seen = (reader: EventReader) => reader.events.map(({ data }) => fieldOf(data as unknown as Message));
const history = async ({ token }: Person, query = '') => {
  await settled(platform);
  return platform.call<History & ErrorBody>('GET', `/events/history?${query}`, { token });
};
const names = async (person: Person, query = '') => (await history(person, query)).body.data.map(fieldOf);

test('an event arrives in the form of webhook messages, and the history has the same', async (t) => {
  const made = await tenant(platform);
  const reader = await open(made.orgAdmin);
  t.regex(reader.headers.get('content-type') ?? '', /^text\/event-stream/);
  const { deviceId } = await enroll(platform, made);
  await reader.until(() => reader.events.length > 0);
  const [first] = (await history(made.orgAdmin)).body.data;
  t.deepEqual(reader.events[0]?.data as unknown, first as unknown);
  t.deepEqual(Object.keys(first ?? {}), [
    ...['id', 'type', 'timestamp', 'apiVersion', 'orgId', 'correlationId', 'causationId', 'depth', 'data'],
  ]);
  t.like(first, { type: 'device.enrolled', orgId: made.orgId });
  t.like(first?.data, { deviceId, siteId: made.siteId });
});

test('everybody sees what they reach: organization, partner, sites, groups, and never a stranger’s', async (t) => {
  const made = await tenant(platform);
  const { orgId, siteId, partnerId } = made;
  const second = await organization(platform, partnerId);
  const stranger = await tenant(platform);
  const { deviceId } = await enroll(platform, made);
  const [group] = await platform.sql<{ id: string }>(
    `insert into device_groups (org_id, name, type) values ($1, 'g', 'static') returning id`,
    [orgId],
  );
  await platform.sql(
    `insert into device_group_members (group_id, device_id, org_id, added_by) values ($1, $2, $3, 'manual')`,
    [group?.id, deviceId, orgId],
  );
  const people = {
    own: made.orgAdmin,
    above: made.partner,
    site: await orgUser(platform, { orgId, siteIds: [siteId] }),
    group: await orgUser(platform, { orgId, deviceGroupIds: [group?.id ?? ''] }),
    other: stranger.partner,
  };
  const query = 'types=device.updated';
  const open5 = Object.entries(people).map(async ([who, person]) => [who, await open(person, { query })] as const);
  const streams = Object.fromEntries(await Promise.all(open5));
  await emit(orgId, 'org');
  await emit(orgId, 'site', { siteId });
  await emit(orgId, 'device', { siteId, deviceId });
  await emit(second.orgId, 'second');
  await emit(stranger.orgId, 'stranger');
  const expected: Record<string, string[]> = {
    own: ['org', 'site', 'device'],
    above: ['org', 'site', 'device', 'second'],
    site: ['site', 'device'],
    group: ['device'],
    other: ['stranger'],
  };
  for (const [who, events] of Object.entries(expected)) {
    const stream = streams[who];
    await stream?.until(() => stream.events.length >= events.length);
    t.deepEqual(stream && seen(stream), events, who);
    const person = people[who as keyof typeof people];
    t.deepEqual(await names(person, query), events, who);
    const again = await open(person, { query, lastEventId: stream?.events[0]?.id ?? '' });
    await again.until(() => again.events.length >= events.length - 1);
    t.deepEqual(seen(again), events.slice(1), `${who}, who came back`);
  }
  t.is((await open(made.orgAdmin, { query: `orgId=${stranger.orgId}` })).status, 403);
  t.is((await history(made.partner, `orgId=${stranger.orgId}`)).status, 404);
  t.deepEqual(await names(made.partner, `${query}&orgId=${second.orgId}`), ['second']);
});

test('kinds and families narrow both; an unknown one is refused with those there are', async (t) => {
  const made = await tenant(platform);
  const { orgId, orgAdmin } = made;
  const family = await open(orgAdmin, { query: 'types=device.*' });
  const others = await open(orgAdmin, { query: 'types=webhook.disabled,user.*' });
  await emit(orgId, 'one');
  await asPlatform(platform, async (ctx) =>
    emitNamed(
      ctx,
      'webhooks.disabled',
      { webhookId: randomUUID(), partnerId: null, name: 'w', reason: 'gone', consecutiveFailures: 1 },
      { orgId },
    ),
  );
  await family.until(() => family.events.length === 1);
  await others.until(() => others.events.length === 1);
  t.is(others.events[0]?.data.type, 'webhook.disabled');
  const refused = await history(orgAdmin, 'types=device.exploded');
  t.deepEqual([refused.status, refused.body.error.code], [400, 'UNKNOWN_EVENT']);
  t.is((await open(orgAdmin, { query: 'types=device.exploded' })).status, 400);
});

test('what commits late comes late and is not passed over, in the stream and in the history', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  const reader = await open(orgAdmin);
  const client = await platform.platform.tasks.work.database.owner.connect();
  const insert = (name: string) =>
    `insert into events (id, name, org_id, actor, data)
     values ('${randomUUID()}', 'devices.updated', '${orgId}', '{}', '{"changedFields": ["${name}"]}')`;
  try {
    await client.query('begin');
    await client.query(insert('early'));
    await platform.sql(insert('late'));
    t.deepEqual(
      (await platform.call<History>('GET', '/events/history', orgAdmin)).body.data.map(fieldOf),
      [],
      'the one that is open comes before',
    );
    t.deepEqual(seen(reader), []);
    await client.query('commit');
  } finally {
    client.release(true);
  }
  await reader.until(() => reader.events.length === 2);
  t.deepEqual(seen(reader), ['early', 'late']);
  t.deepEqual(await names(orgAdmin), ['early', 'late']);
});

test('cut off again and again, also by a server that stops: each event once, in order', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  const total = 300;
  const first = await open(orgAdmin);
  first.close();
  const writing = (async () => {
    for (let n = 0; n < total; n += 1) await emit(orgId, `${n}`);
  })();
  const all: string[] = [];
  let lastEventId = first.lastId;
  let round = 0;
  while (all.length < total) {
    const process = round++ % 3 === 2 ? await joinTestPlatform(platform) : null;
    const reader = await open(orgAdmin, { lastEventId }, process?.url);
    await reader.until(() => reader.events.length > 0);
    // It ends by itself when its server stops.
    if (process) await process.stop();
    else reader.close();
    all.push(...seen(reader));
    lastEventId = reader.events.at(-1)?.id ?? lastEventId;
  }
  await writing;
  t.deepEqual(
    all,
    Array.from({ length: total }, (_, n) => `${n}`),
  );
});

test('the history goes in pages and by cursor, both ways, and on from an event or a message', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  for (const name of ['a', 'b', 'c', 'd', 'e']) await emit(orgId, name);
  t.deepEqual(await names(orgAdmin, 'limit=2&page=2'), ['c', 'd']);
  t.deepEqual(await names(orgAdmin, 'limit=2&sortDir=desc'), ['e', 'd']);
  const walked: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body }: { body: History } = await history(orgAdmin, `limit=2&sortDir=desc&cursor=${cursor}`);
    walked.push(...body.data.map(fieldOf));
    cursor = body.pagination.cursor;
  }
  t.deepEqual(walked, ['e', 'd', 'c', 'b', 'a']);
  const [, second] = (await history(orgAdmin)).body.data;
  t.deepEqual(await names(orgAdmin, `lastEventId=${second?.id}`), ['c', 'd', 'e']);
  const reader = await open(orgAdmin, { query: `lastEventId=${second?.id}` });
  await reader.until(() => reader.events.length === 3);
  t.deepEqual(await names(orgAdmin, `lastEventId=${reader.events[1]?.id}`), ['e']);
});

test('who comes back too late, or from another database, is told to begin anew', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { lastId } = await open(orgAdmin);
  const [cluster] = lastId.split('-');
  const code = async (lastEventId: string) => {
    const { status, body } = await history(orgAdmin, `lastEventId=${lastEventId}`);
    t.is((await open(orgAdmin, { lastEventId })).status, status);
    return `${status} ${body.error?.code}`;
  };
  t.is(await code(`${cluster}-3-1`), '410 CURSOR_EXPIRED');
  t.is(await code(`${cluster}-9000000000000000000-1`), '410 CURSOR_EXPIRED');
  t.is(await code(lastId.replace(cluster ?? '', 'aaaaaaaaaaaa')), '410 CURSOR_EXPIRED');
  t.is(await code(randomUUID()), '410 CURSOR_EXPIRED');
  t.is(await code('yesterday'), '400 INVALID_CURSOR');
  t.is(await code(`${cluster}-99999999999999999999-1`), '400 INVALID_CURSOR');
});

test('a stream ends when its caller may no longer; a quiet one has pings', async (t) => {
  t.timeout(60_000);
  const { orgAdmin, viewer } = await tenant(platform);
  const reader = await open(orgAdmin);
  const quiet = await open(viewer);
  await platform.sql('update sessions set revoked_at = now() where id = $1', [orgAdmin.sessionId]);
  await t.throwsAsync(
    reader.until(() => false),
    { message: /ended/ },
  );
  await quiet.until(() => quiet.comments > 0);
  t.false(quiet.ended);
});

test('who takes nothing is held back, not kept in memory, and goes on where it stopped', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  const { hostname, port } = new URL(platform.url);
  const first = await open(orgAdmin);
  const socket = connect(Number(port), hostname);
  socket.write(`GET /api/v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${orgAdmin.token}\r\n\r\n`);
  await new Promise((resolve) => socket.once('data', resolve));
  socket.pause();
  // More than sockets and streams hold between the two.
  await platform.sql(
    `insert into events (id, name, org_id, actor, data)
     select gen_random_uuid(), 'devices.updated', $1, '{}', jsonb_build_object('changedFields', array[repeat('x', 15000) || n])
     from generate_series(1, 1500) n`,
    [orgId],
  );
  await first.until(() => first.events.length === 1500);
  let taken = 0;
  const all = new Promise<void>((resolve) => {
    let rest = '';
    socket.on('data', (chunk: Buffer) => {
      rest += chunk.toString('latin1');
      const blocks = rest.split('\ndata: ');
      taken += blocks.length - 1;
      rest = blocks.at(-1)?.slice(-20) ?? '';
      if (taken >= 1500) resolve();
    });
  });
  socket.resume();
  await all;
  socket.destroy();
  t.is(taken, 1500);
});

test('a tenant has twenty streams on a process, and a place is free when one closes', async (t) => {
  const { orgAdmin, viewer }: Tenant = await tenant(platform);
  const twenty = await Promise.all(Array.from({ length: 20 }, () => open(orgAdmin)));
  const refused = await open(viewer);
  t.is(refused.status, 429);
  t.is(refused.headers.get('retry-after'), '30');
  twenty[0]?.close();
  const until = Date.now() + 30_000;
  while ((await open(viewer)).status !== 200) if (Date.now() > until) return t.fail('no place was freed');
});
