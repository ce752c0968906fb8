/** Finding entries by names in a long trail: the right ones, through indexes, and nobody else's names. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { organization, startTestPlatform, systemUser, type Tenant, tenant } from '#test';
import { newest, type Selection } from '../services/reading/selection.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

interface Page {
  data: { id: string; orgId: string | null; action: string; user: { email: string }; resource: { name: string } }[];
  pagination: { total?: number; hasMore?: boolean; cursor?: string | null };
}
const list = async (token: string, query: string, path = 'logs') => {
  const { status, body } = await platform.call<Page>('GET', `/audit-logs/${path}?${query}`, { token });
  if (status !== 200) throw new Error(`${query}: ${status} ${JSON.stringify(body)}`);
  return body;
};

/** Entries that look sealed: `many` of them, a second apart, by one of `people` about one of `things`. */
async function fill(owner: Partial<Record<'orgId' | 'partnerId', string>>, many: number, people = 5, things = 7) {
  const { orgId = null, partnerId = null } = owner;
  const name = orgId ? `org:${orgId}` : partnerId ? `partner:${partnerId}` : 'platform';
  await platform.sql(
    `insert into audit_logs (id, owner, seq, org_id, partner_id, timestamp, actor_type, actor_id, actor_email, actor_name,
       action, resource_type, resource_id, resource_name, details, result, checksum)
     select gen_random_uuid(), $1, coalesce((select max(seq) from audit_logs where owner = $1), 0) + n, $2, $3,
       now() - make_interval(secs => $4 - n), 'user', gen_random_uuid(), 'user' || n % $5 || '@example.com', 'User ' || n % $5,
       case when n % 1000 = 0 then 'policy.create' else 'site.update' end, 'site', gen_random_uuid(), 'Site ' || n % $6,
       jsonb_build_object('number', n, 'hash', md5(n::text)), 'success', 'x'
     from generate_series(1, $4::int) n`,
    [name, orgId, partnerId, many, people, things],
  );
}

async function announced<T>({ orgId, partnerId }: Tenant, run: (query: Query) => Promise<T>): Promise<T> {
  const client = await platform.platform.tasks.work.database.app.connect();
  try {
    await client.query('begin');
    await client.query(`select set_config('app.org_ids', $1, true), set_config('app.partner_id', $2, true)`, [
      `{${orgId}}`,
      partnerId,
    ]);
    return await run(async (text, values = []) => (await client.query(text, values)).rows);
  } finally {
    await client.query('rollback');
    client.release();
  }
}
type Query = (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;

test('each filter finds what holds its text, alone and with others, page by page', async (t) => {
  const made = await tenant(platform);
  const { token } = made.orgAdmin;
  await fill(made, 120);
  const total = async (query: string, path?: string) => (await list(token, query, path)).pagination.total;
  t.is(await total('user=USER3%40'), 24);
  t.is(await total('user=user%203'), 24, 'the name as well as the address');
  t.is(await total('resource=site%206'), 17);
  t.is(await total('resource=site'), 120);
  t.is(await total('action=UPDATE&user=user3&resource=site%206'), 4, 'numbers that are 3 of 5 and 6 of 7');
  t.is(await total('user=nobody'), 0);
  t.is(await total('user=user3&action=nothing'), 0);
  t.is(await total('user=_ser3'), 0, 'what a person types is no pattern');
  // The newest first, by page and by cursor, over many names at once.
  const inOrder = (await list(token, 'user=example.com&limit=100&skipCount=true')).data.map(({ id }) => id);
  const paged = [
    ...(await list(token, 'user=example.com&limit=50&page=1')).data,
    ...(await list(token, 'user=example.com&limit=50&page=2')).data,
  ].map(({ id }) => id);
  t.deepEqual(paged, inOrder);
  const walked: string[] = [];
  for (let cursor: string | null | undefined = ''; typeof cursor === 'string'; ) {
    const page = await list(token, `resource=site&limit=17&cursor=${cursor}`);
    walked.push(...page.data.map(({ id }) => id));
    cursor = page.pagination.cursor;
  }
  t.is(walked.length, 120);
  t.deepEqual(walked.slice(0, 100), inOrder);
});

test('the search finds a text in any of its five places, whatever the case, and combines with the filters', async (t) => {
  const made = await tenant(platform);
  const { token } = made.orgAdmin;
  await fill(made, 50);
  await platform.sql(
    `insert into audit_logs (id, owner, seq, org_id, actor_type, actor_id, actor_email, actor_name, action, resource_type,
       resource_id, resource_name, details, result, checksum)
     select gen_random_uuid(), 'org:' || $1::text, 100, $1::uuid, 'user', gen_random_uuid(), 'Grüße@example.net', 'Zoë',
       'needle.action', 'haystack', gen_random_uuid(), 'Straße 12', '{"deep": {"list": ["Ärger", "50% _off"]}}', 'success', 'x'`,
    [made.orgId],
  );
  const found = async (q: string, more = '') =>
    (await list(token, `q=${encodeURIComponent(q)}${more}`, 'search')).data.length;
  for (const text of [
    'NEEDLE',
    'grÜSSE@'.replace('SS', 'ß'),
    'example.NET',
    'HAYstack',
    'straße 1',
    'ärger',
    '50% _OFF',
    'deep',
  ]) {
    t.is(await found(text), 1, text);
  }
  t.is(await found('zoë'), 0, 'the search is not over names of people');
  t.is(await found('0% x'), 0);
  t.is(await found('example', '&limit=100'), 51);
  t.is(await found('example', '&action=needle'), 1);
  t.is(await found('deep', '&user=user1'), 0);
});

test('a partner finds by names in its organizations and what it did itself, the platform in all, nobody elsewhere', async (t) => {
  const [mine, theirs] = [await tenant(platform), await tenant(platform)];
  const second = await organization(platform, mine.partnerId);
  const { token } = await systemUser(platform);
  for (const owner of [mine, second, theirs]) await fill({ orgId: owner.orgId }, 10);
  for (const owner of [mine, theirs]) await fill({ partnerId: owner.partnerId }, 10);
  await fill({}, 10);
  const seen = async (who: string, query: string) => {
    const { data } = await list(who, `${query}&limit=100`);
    return Map.groupBy(data, ({ orgId }) => orgId ?? 'own');
  };
  for (const query of ['user=user2%40example', 'resource=site%202', 'user=user2%40&action=site.update']) {
    const count = 2;
    const own = await seen(mine.partner.token, query);
    t.deepEqual([...own.keys()].sort(), [mine.orgId, second.orgId, 'own'].sort(), query);
    for (const rows of own.values()) t.is(rows.length, count, query);
    t.deepEqual([...(await seen(mine.orgAdmin.token, query)).keys()], [mine.orgId]);
    const all = await seen(token, query);
    for (const org of [mine.orgId, second.orgId, theirs.orgId]) t.is(all.get(org)?.length, count, query);
    t.true((all.get('own')?.length ?? 0) >= 3 * count, 'both partners and the platform');
  }
});

test('called directly by a tenant, the function gives keys of what is announced, whatever is asked of it', async (t) => {
  const [mine, theirs] = [await tenant(platform), await tenant(platform)];
  for (const { orgId, partnerId } of [mine, theirs]) {
    await fill({ orgId }, 5);
    await fill({ partnerId }, 5);
  }
  await announced(mine, async (query) => {
    const ask = (orgs: string[], own: boolean) =>
      query(`select distinct org_id from audit_names_like('actor', '%', $1::uuid[], $2, 100)`, [orgs, own]);
    t.deepEqual(await ask([mine.orgId, theirs.orgId], false), [{ org_id: mine.orgId }]);
    t.deepEqual(await ask([theirs.orgId], true), [{ org_id: null }]);
    t.is((await query(`select from audit_names_like('actor', '%', '{}', true, 100)`)).length, 5);
    t.deepEqual(await ask([theirs.orgId], false), []);
  });
  await t.throwsAsync(
    announced(mine, (query) => query('select name from audit_names')),
    { message: /permission denied/ },
  );
});

test('a page by names is read through their index, by a tenant as well, and reads little more than the page', async (t) => {
  const made = await tenant(platform);
  const { orgId } = made;
  await fill({ orgId }, 40_000, 400, 8000);
  await platform.sql('analyze audit_logs; analyze audit_names');
  const places = async (kind: string, pattern: string) =>
    announced(made, (query) =>
      query(`select org_id as "orgId", key::text as key from audit_names_like($1, $2, $3::uuid[], false, 2001)`, [
        kind,
        pattern,
        [orgId],
      ]),
    );
  for (const [column, index, kind, pattern, names] of [
    ['actor_key', 'audit_logs_actor', 'actor', '%user77@%', 1],
    ['actor_key', 'audit_logs_actor', 'actor', '%example.com%', 400],
    ['resource_key', 'audit_logs_resource', 'resource', '%site 77%', 111],
    ['action_key', 'audit_logs_action_key', 'action', '%policy%', 1],
  ] as const) {
    const at = (await places(kind, pattern)) as unknown as NonNullable<Selection['places']>['at'];
    t.is(at.length, names, pattern);
    const selection: Selection = {
      orgIds: [orgId],
      partnerId: null,
      conditions: [],
      values: [],
      places: { column, at },
    };
    const { text, values } = newest(selection, { limit: 50 });
    const plan = await announced(made, async (query) => {
      const lines = await query(`explain (analyze, costs off, timing off) ${text}`, values);
      return lines.map((line) => line['QUERY PLAN']).join('\n');
    });
    t.regex(plan, new RegExp(`using ${index} `), plan);
    t.notRegex(plan, /Seq Scan on audit_logs|using audit_logs_(org|newest)/);
  }
});

test('names are kept once for each chain, and with the entries that brought them', async (t) => {
  const { orgId } = await tenant(platform);
  await fill({ orgId }, 20, 2, 3);
  await fill({ orgId }, 20, 2, 3);
  const names = async () =>
    (
      await platform.sql<{ kind: string; n: number }>(
        'select kind, count(*)::int as n from audit_names where org_id = $1 group by 1 order by 1',
        [orgId],
      )
    ).map(({ kind, n }) => `${kind} ${n}`);
  t.deepEqual(await names(), ['action 1', 'actor 2', 'resource 3']);
  const client = await platform.platform.tasks.work.database.owner.connect();
  await client.query('begin');
  await client.query(
    `insert into audit_logs (id, owner, seq, org_id, actor_type, actor_id, action, resource_type, resource_id, result, checksum)
     values ($1, $2, 999, $3, 'system', $1, 'undone', 'nothing', $1, 'success', 'x')`,
    [randomUUID(), `org:${orgId}`, orgId],
  );
  await client.query('rollback');
  client.release();
  t.deepEqual(await names(), ['action 1', 'actor 2', 'resource 3']);
});
