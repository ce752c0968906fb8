/** GET /audit-logs/stream: what a SIEM sees, when it is cut off, and when it is shut out. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { apiKey, EventReader, organization, startTestPlatform, tenant } from '#test';
import { record } from './outbox.ts';

const platform = await startTestPlatform();
const readers: EventReader[] = [];
test.after.always(async () => {
  for (const reader of readers) reader.close();
  await platform.stop();
});

async function open(options: Parameters<typeof EventReader.open>[2]): Promise<EventReader> {
  const reader = await EventReader.open(platform.url, '/audit-logs/stream', options);
  readers.push(reader);
  return reader;
}
const actions = (reader: EventReader) => reader.events.map((event) => event.data.action);

test('a new entry arrives within a second, as an uncompressed event with its position', async (t) => {
  const { orgId, orgAdmin, siteId } = await tenant(platform);
  const reader = await open({ token: orgAdmin.token });
  t.regex(reader.headers.get('content-type') ?? '', /^text\/event-stream/);
  t.is(reader.headers.get('content-encoding'), null);
  t.is(reader.headers.get('x-accel-buffering'), 'no');
  await reader.until(() => reader.lastId !== '');
  const changed = Date.now();
  await platform.call('PATCH', `/orgs/sites/${siteId}`, { token: orgAdmin.token, body: { name: 'Streamed' } });
  await reader.until(() => reader.events.length > 0);
  // The bound is a second; the test leaves room for a busy machine.
  t.true(Date.now() - changed < 4500, `${Date.now() - changed} ms`);
  t.like(reader.events[0]?.data, { orgId, action: 'site.update', resource: { name: 'Streamed' }, result: 'success' });
  const one = await platform.call<{ data: object }>('GET', `/audit-logs/logs/${reader.events[0]?.data.id}`, {
    token: orgAdmin.token,
  });
  t.is(one.status, 200);
});

test('an organization follows itself, a partner its organizations and its own rows, nobody a stranger', async (t) => {
  const { orgId, partnerId, orgAdmin, partner } = await tenant(platform);
  const second = await organization(platform, partnerId);
  const stranger = await tenant(platform);
  const [own, all, narrowed] = await Promise.all([
    open({ token: orgAdmin.token }),
    open({ token: partner.token }),
    open({ token: partner.token, query: `orgId=${second.orgId}` }),
  ]);
  await record(platform, stranger.orgId, [{ action: 'a.stranger' }]);
  await record(platform, null, [{ action: 'a.partner', partnerId }]);
  await record(platform, orgId, [{ action: 'a.first' }]);
  await record(platform, second.orgId, [{ action: 'a.second' }]);
  await record(platform, orgId, [{ action: 'a.last' }]);
  await record(platform, second.orgId, [{ action: 'a.last' }]);
  await own.until(() => actions(own).includes('a.last'));
  t.deepEqual(actions(own), ['a.first', 'a.last']);
  await all.until(() => all.events.length >= 5);
  t.deepEqual(actions(all), ['a.partner', 'a.first', 'a.second', 'a.last', 'a.last']);
  await narrowed.until(() => narrowed.events.length >= 2);
  t.deepEqual(actions(narrowed), ['a.second', 'a.last']);
  const refused = await open({ token: partner.token, query: `orgId=${stranger.orgId}` });
  t.is(refused.status, 403);
});

test('a reader that is cut off again and again while entries are written sees each once, in order', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  const total = 900;
  const first = await open({ token: orgAdmin.token });
  await first.until(() => first.lastId !== '');
  first.close();
  const writing = (async () => {
    for (let n = 0; n < total; n += 30) {
      await record(
        platform,
        orgId,
        Array.from({ length: 30 }, (_, k) => ({ action: 'a.b', resourceName: `${n + k}` })),
      );
    }
  })();
  const seen: string[] = [];
  let lastEventId = first.lastId;
  while (seen.length < total) {
    const reader = await open({ token: orgAdmin.token, lastEventId });
    // A tenant has a number of streams at once, and the server learns a moment later that one was cut off.
    if (reader.status === 429) continue;
    await reader.until(() => reader.events.length > 0);
    reader.close();
    for (const event of reader.events) seen.push((event.data.resource as { name: string }).name);
    lastEventId = reader.lastId;
  }
  await writing;
  t.deepEqual(
    seen,
    Array.from({ length: total }, (_, n) => `${n}`),
  );
});

test('the position 0 begins with the oldest entry, by header or query; one that was never given is refused', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  const { token } = orgAdmin;
  await record(platform, orgId, [{ action: 'a.old' }, { action: 'a.older' }]);
  for (const options of [{ lastEventId: '0' }, { query: 'lastEventId=0' }]) {
    const reader = await open({ token, ...options });
    await reader.until(() => reader.events.length >= 2);
    t.deepEqual(actions(reader), ['a.old', 'a.older']);
    reader.close();
  }
  t.is((await open({ token, lastEventId: '999999999' })).status, 400);
  t.is((await open({ token, lastEventId: 'yesterday' })).status, 400);
  t.is((await open({ token, query: 'lastEventId=-1' })).status, 400);
});

test('a stream ends when its session or its key is revoked, or its reach changes', async (t) => {
  const { orgId, orgAdmin, viewer, partner, partnerId } = await tenant(platform);
  const key = await apiKey(platform, { orgId, scopes: ['audit:read'], createdBy: orgAdmin.id });
  const [byKey, bySession, byPartner, other] = await Promise.all([
    open({ apiKey: key }),
    open({ token: orgAdmin.token }),
    open({ token: partner.token }),
    open({ token: viewer.token }),
  ]);
  await platform.sql(`update api_keys set status = 'revoked' where org_id = $1`, [orgId]);
  await t.throwsAsync(
    byKey.until(() => false),
    { message: /ended/ },
  );
  t.false(bySession.ended);
  await platform.sql('update sessions set revoked_at = now() where id = $1', [orgAdmin.sessionId]);
  await t.throwsAsync(
    bySession.until(() => false),
    { message: /ended/ },
  );
  t.is((await open({ token: orgAdmin.token })).status, 401);
  t.false(byPartner.ended);
  await organization(platform, partnerId);
  await t.throwsAsync(
    byPartner.until(() => false),
    { message: /ended/ },
  );
  await record(platform, orgId, [{ action: 'a.after' }]);
  await other.until(() => actions(other).includes('a.after'));
  t.pass('who keeps everything keeps the stream');
});

test('the sixth stream of a tenant is refused until another one closes', async (t) => {
  const { orgId, orgAdmin, viewer } = await tenant(platform);
  const five = await Promise.all([1, 2, 3, 4, 5].map(() => open({ token: orgAdmin.token })));
  t.deepEqual(
    five.map((reader) => reader.status),
    [200, 200, 200, 200, 200],
  );
  t.is((await open({ token: viewer.token })).status, 429);
  five[0]?.close();
  const count = async () =>
    (await platform.sql('select 1 from audit_streams where tenant = $1', [`org:${orgId}`])).length;
  while ((await count()) === 5);
  t.is((await open({ token: viewer.token })).status, 200);
  // A process that died leaves its places behind; they run out.
  await platform.sql(`update audit_streams set seen_at = now() - interval '2 minutes' where tenant = $1`, [
    `org:${orgId}`,
  ]);
  t.is((await open({ token: viewer.token })).status, 200);
});

test('a quiet stream has a heartbeat', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const reader = await open({ token: orgAdmin.token });
  await reader.until(() => reader.comments > 0);
  t.is(reader.events.length, 0);
});

test('an entry whose transaction commits late is not passed over, and holds nobody up', async (t) => {
  const { orgId, partnerId, partner } = await tenant(platform);
  const other = await organization(platform, partnerId);
  const reader = await open({ token: partner.token });
  const { owner } = platform.platform.tasks.work.database;
  const client = await owner.connect();
  const append = (name: string, id: string) =>
    `insert into audit_logs (id, owner, seq, org_id, actor_type, actor_id, action, resource_type, resource_id, result, checksum)
     values ('${randomUUID()}', 'org:${id}', 900001, '${id}', 'system', '${randomUUID()}', 'a.b', '${name}', '${randomUUID()}', 'success', 'x')`;
  const head = async () => Number((await platform.sql('select audit_feed_head() as head'))[0]?.head);
  const positions = async () =>
    platform.sql<{ name: string; pos: number }>(
      'select resource_type as name, pos::int as pos from audit_logs where org_id = any($1) and seq = 900001 order by pos',
      [[orgId, other.orgId]],
    );
  const held = await head();
  try {
    await client.query('begin');
    await client.query(append('early', orgId));
    // Commits at once, with a later position.
    await platform.sql(append('late', other.orgId));
    const [late, ...more] = await positions();
    t.deepEqual([late?.name, more.length], ['late', 0]);
    const stands = await head();
    t.true(stands >= held && stands < Number(late?.pos) - 1, 'the feed stands still before the one that is open');
    t.is(reader.events.length, 0);
    await client.query('commit');
  } finally {
    // Closes it: what a failure left open would stop the feed for all.
    client.release(true);
  }
  const [early, late] = await positions();
  t.deepEqual([early?.name, late?.name], ['early', 'late']);
  await reader.until(() => reader.events.length === 2);
  t.deepEqual(
    reader.events.map(({ id }) => Number(id)),
    [early?.pos, late?.pos],
  );
});
