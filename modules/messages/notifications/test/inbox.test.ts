/** The inbox: lists, counts, marks and removals of the caller's own notices, and of nobody else's. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import type pg from 'pg';
import { apiKey, type ErrorBody, organization, type Person, partnerUser, startTestPlatform } from '#test';
import { type Ground, type Listed, openTenant, type Shown } from './ground.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

/** Notices written directly, the first the oldest. */
async function notices(at: Ground, person: Person, count: number, more: object = {}): Promise<string[]> {
  const rows = await platform.sql<{ id: string }>(
    `insert into user_notifications (user_id, event_id, org_id, type, priority, title, message, last_occurred_at)
     select $1, gen_random_uuid(), coalesce(($3::jsonb ->> 'orgId')::uuid, $2), coalesce($3::jsonb ->> 'type', 'device'),
       coalesce($3::jsonb ->> 'priority', 'normal'), 'Notice ' || n, 'Text', now() - make_interval(mins => $4 - n)
     from generate_series(1, $4) n returning id`,
    [person.id, at.orgId, JSON.stringify(more), count],
  );
  return rows.map(({ id }) => id);
}
const as = (person: Person) => ({
  call: <B = ErrorBody>(method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    platform.call<B>(method, `/notifications${path}`, {
      token: person.token,
      ...(body === undefined ? {} : { body }),
      ...(headers ? { headers } : {}),
    }),
});

test.serial('a page, an offset and a cursor give the same notices, the latest first', async (t) => {
  const at = await openTenant(platform);
  const ids = (await notices(at, at.orgAdmin, 7)).reverse();
  const first = await at.inbox(at.orgAdmin, '?limit=3');
  t.like(first, { total: 7, unreadCount: 7, limit: 3, offset: 0 });
  t.deepEqual(first.notifications, first.data);
  const shown = ({ data }: Listed) => data.map(({ id }) => id);
  t.deepEqual(shown(first), ids.slice(0, 3));
  t.deepEqual(shown(await at.inbox(at.orgAdmin, '?limit=3&page=2')), ids.slice(3, 6));
  const shifted = await at.inbox(at.orgAdmin, '?limit=3&offset=2');
  t.deepEqual(shown(shifted), ids.slice(2, 5));
  t.like(shifted, { total: 7, offset: 2 });
  const seen: string[] = [];
  for (let cursor: string | null | undefined = ''; cursor !== null && cursor !== undefined; ) {
    const page: Listed = await at.inbox(at.orgAdmin, `?limit=3&cursor=${cursor}`);
    seen.push(...shown(page));
    cursor = page.pagination.cursor;
  }
  t.deepEqual(seen, ids);
  const { status } = await as(at.orgAdmin).call('GET', '?page=1&offset=2');
  t.is(status, 400);
});

test.serial('the list is narrowed by what is unread, by type, priority and organization', async (t) => {
  const at = await openTenant(platform);
  const other = await organization(platform, at.partnerId);
  await notices(at, at.partner, 1, { type: 'security', priority: 'urgent' });
  await notices(at, at.partner, 2, { orgId: other.orgId });
  const [read] = await notices(at, at.partner, 1);
  await as(at.partner).call('PATCH', `/${read}`, { read: true });
  const count = async (query: string) => (await at.inbox(at.partner, query)).total;
  t.is(await count(''), 4);
  t.is(await count('?unreadOnly=true'), 3);
  t.is(await count('?type=security'), 1);
  t.is(await count('?priority=urgent'), 1);
  t.is(await count(`?orgId=${other.orgId}`), 2);
  t.is((await as(at.orgAdmin).call('GET', `?orgId=${other.orgId}`)).status, 403);
  t.is((await as(at.orgAdmin).call('GET', '?type=gossip')).status, 400);
});

test.serial('unread notices are counted up to a hundred, and who knows the count is told nothing', async (t) => {
  const at = await openTenant(platform);
  const count = (headers?: Record<string, string>) =>
    as(at.orgAdmin).call<{ count: number }>('GET', '/unread-count', undefined, headers);
  await notices(at, at.orgAdmin, 3);
  const first = await count();
  t.deepEqual(first.body, { count: 3 });
  const tag = { 'if-none-match': first.headers.get('etag') ?? '' };
  t.is((await count(tag)).status, 304);
  await notices(at, at.orgAdmin, 120);
  const next = await count(tag);
  t.is(next.status, 200);
  t.deepEqual(next.body, { count: 100 });
  t.is((await at.inbox(at.orgAdmin)).unreadCount, 101);
});

test.serial('one notice is marked as read and unread, without an entry in the trail', async (t) => {
  const at = await openTenant(platform);
  const [id] = await notices(at, at.orgAdmin, 1);
  const { call } = as(at.orgAdmin);
  const marked = await call<{ data: Shown }>('PATCH', `/${id}`, { read: true });
  t.true(marked.body.data.read);
  t.truthy(marked.body.data.readAt);
  t.is((await call('PATCH', `/${id}`, { read: true })).status, 200);
  t.like((await call<{ data: Shown }>('PATCH', `/${id}`, { read: false })).body.data, { read: false, readAt: null });
  t.is((await call('PATCH', `/${id}`, {})).status, 400);
  t.deepEqual(await platform.audits({ action: 'notification.read.mark', orgId: at.orgId }), []);
});

test.serial('many are marked at once, by their ids or all until a time, with one entry for each call', async (t) => {
  const at = await openTenant(platform);
  const ids = await notices(at, at.orgAdmin, 6);
  const theirs = await notices(at, at.viewer, 1);
  const { call } = as(at.orgAdmin);
  const mark = async (body: object) => (await call<{ updated: number }>('PATCH', '/read', body)).body.updated;
  t.is(await mark({ ids: [ids[0], ids[1], theirs[0], randomUUID()] }), 2);
  t.is(await mark({ ids: [ids[0]] }), 0);
  const before = (await at.inbox(at.orgAdmin)).data.at(-3)?.lastOccurredAt;
  t.is(await mark({ all: true, before }), 1);
  t.is(await mark({ all: true }), 3);
  t.is((await at.inbox(at.viewer)).unreadCount, 1);
  const entries = await platform.audits({ action: 'notification.read.mark', orgId: at.orgId });
  t.deepEqual(
    entries.map(({ details }) => details.updated),
    [2, 1, 3],
  );
  for (const body of [{}, { ids: [], all: true }, { ids: [ids[0]], all: true }, { all: false }, { before }]) {
    t.is((await call('PATCH', '/read', body)).status, 400, JSON.stringify(body));
  }
  t.is((await call('PATCH', '/read', { ids: Array.from({ length: 501 }, () => randomUUID()) })).status, 400);
});

test.serial('one is removed, then those that were read, then all', async (t) => {
  const at = await openTenant(platform);
  const [one, two] = await notices(at, at.orgAdmin, 5);
  await notices(at, at.viewer, 1);
  const { call } = as(at.orgAdmin);
  t.deepEqual((await call('DELETE', `/${one}`)).body as object, { success: true });
  t.is((await call('DELETE', `/${one}`)).status, 404);
  await call('PATCH', `/${two}`, { read: true });
  t.deepEqual((await call('DELETE', '?readOnly=true')).body as object, { deleted: 1 });
  t.deepEqual((await call('DELETE', '')).body as object, { deleted: 3 });
  t.deepEqual((await call('DELETE', '')).body as object, { deleted: 0 });
  t.is((await at.inbox(at.viewer)).total, 1);
  const actions = (await platform.audits({ orgId: at.orgId })).map(({ action }) => action);
  t.deepEqual(
    actions.filter((action) => action.startsWith('notification')),
    ['notification.delete', 'notification.delete_all', 'notification.delete_all'],
  );
});

test.serial('notices of others are not there, whoever asks', async (t) => {
  const at = await openTenant(platform);
  const elsewhere = await openTenant(platform);
  const [id] = await notices(at, at.orgAdmin, 1);
  for (const person of [at.viewer, at.partner, elsewhere.orgAdmin]) {
    t.is((await as(person).call('PATCH', `/${id}`, { read: true })).status, 404);
    t.is((await as(person).call('DELETE', `/${id}`)).status, 404);
  }
  const key = await apiKey(platform, { orgId: at.orgId, scopes: ['*'], createdBy: at.orgAdmin.id });
  t.is((await platform.call('GET', '/notifications', { apiKey: key })).status, 401);
});

test.serial('what somebody does not reach any more is not shown to them either', async (t) => {
  const at = await openTenant(platform);
  const other = await organization(platform, at.partnerId);
  const roleId = at.partnerRoleId;
  const person = await partnerUser(platform, { ...at, roleId, orgAccess: 'selected', orgIds: [other.orgId] });
  await notices(at, person, 2);
  await notices(at, person, 1, { orgId: other.orgId });
  t.like(await at.inbox(person), { total: 1, unreadCount: 1 });
});

test.serial('a list and a count cost the statements that are known, with one notice and with hundreds', async (t) => {
  const at = await openTenant(platform);
  let statements = 0;
  const seen = new WeakSet<pg.PoolClient>();
  platform.platform.tasks.work.database.app.on('acquire', (client) => {
    if (seen.has(client)) return;
    seen.add(client);
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    client.query = ((...args: unknown[]) => {
      const text = typeof args[0] === 'string' ? args[0] : ((args[0] as { text?: string }).text ?? '');
      // Other tests of this file work on the same connections.
      if (text.includes('user_notifications') || JSON.stringify(args).includes(at.orgAdmin.id)) statements += 1;
      return query(...args);
    }) as typeof client.query;
  });
  const cost = async (query: string) => {
    statements = 0;
    await platform.call('GET', `/notifications${query}`, { token: at.orgAdmin.token });
    return statements;
  };
  await notices(at, at.orgAdmin, 1);
  const costs = async () => [await cost(''), await cost('?cursor='), await cost('/unread-count')];
  await costs();
  t.deepEqual(await costs(), [3, 2, 1]);
  await notices(at, at.orgAdmin, 300);
  t.deepEqual(await costs(), [3, 2, 1]);
});
