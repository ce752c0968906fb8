/** Another tenant gets 404 or 403 on every route with an id, and changes nothing: found from the route table. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { type Person, startTestPlatform, systemUser, type Tenant, type TestPlatform, tenant } from '#test';
import type { RouteTag } from '../../core/http/route.ts';
import { routeTags } from '../../core/platform.ts';
import { sampleOf } from './sample.ts';

/** A module's test/example.ts makes one of each of its objects for a tenant. */
type Example = (platform: TestPlatform, tenant: Tenant) => Promise<unknown>;

const platform = await startTestPlatform();
const victim = await tenant(platform);
const stranger = await tenant(platform);
const admin = await systemUser(platform);
for (const { folder } of platform.platform.modules) {
  const file = join(folder, 'test', 'example.ts');
  if (!existsSync(file)) continue;
  const { default: example } = (await import(file)) as { default: Example };
  await example(platform, victim);
}
await platform.runJobs();

const tags = routeTags(platform.platform.modules).filter(({ route }) => route.path.includes('{'));
const people = tags.filter(({ route }) => 'permission' in route.access);
const agents = tags.filter(({ route }) => 'agent' in route.access);

/** Ids of all the victim's rows, by table: whatever a path's {id} may stand for is among them. */
async function victimIds(): Promise<string[]> {
  const tables = await platform.sql<{ tab: string; col: string }>(
    `select c.table_name as tab, case when c.table_name in ('organizations') then 'id' else 'org_id' end as col
     from information_schema.columns c join pg_class k on k.oid = to_regclass(c.table_name) and not k.relispartition
     where c.table_schema = 'public' and c.column_name = 'id' and c.data_type = 'uuid'
       and (c.table_name = 'organizations' or exists (select from information_schema.columns o
         where o.table_name = c.table_name and o.column_name = 'org_id'))
     order by 1`,
  );
  const ids: string[] = [victim.partnerId];
  for (const { tab, col } of tables) {
    const rows = await platform.sql<{ id: string }>(`select id from ${tab} where ${col} = $1 limit 3`, [victim.orgId]);
    ids.push(...rows.map((row) => row.id));
  }
  return [...new Set(ids)];
}

async function fingerprint(): Promise<string> {
  const tables = await platform.sql<{ tab: string }>(
    `select c.table_name as tab from information_schema.columns c join pg_class k on k.oid = to_regclass(c.table_name)
     where c.table_schema = 'public' and c.column_name = 'org_id' and not k.relispartition
       and c.table_name not in ('audit_logs', 'audit_outbox', 'sessions', 'job_runs') order by 1`,
  );
  const hash = createHash('sha256');
  for (const { tab } of tables) {
    const [row] = await platform.sql<{ all: string }>(
      `select coalesce(string_agg(t::text, '|' order by t::text), '') as all from ${tab} t where org_id = $1`,
      [victim.orgId],
    );
    hash.update(`${tab}:${row?.all}\n`);
  }
  const [org] = await platform.sql<{ t: string }>('select o::text as t from organizations o where id = $1', [
    victim.orgId,
  ]);
  return hash.update(org?.t ?? '').digest('hex');
}

const fill = (path: string, ids: string[]) => {
  let next = 0;
  return path.replace(/\{\w+\}/g, () => ids[Math.min(next++, ids.length - 1)] ?? '');
};

async function ask({ route }: RouteTag, path: string, token: string) {
  const body =
    route.method === 'GET' || route.method === 'DELETE' ? undefined : route.payload ? sampleOf(route.payload) : {};
  return platform.call(route.method, path, { token, ...(body === undefined ? {} : { body }) });
}

const ids = await victimIds();

// ava wants every declaration in one turn: nothing is awaited from here on.
test.after.always(() => platform.stop());

for (const tag of people) {
  const { route } = tag;
  test(`${route.method} ${route.path} shows and changes nothing of another tenant`, async (t) => {
    const before = await fingerprint();
    const refused = new Set([403, 404]);
    // Bodies made from a schema may still miss a rule; then the answer says nothing about the object.
    if (route.payload) refused.add(400);
    for (const person of [stranger.partner, stranger.orgAdmin] satisfies Person[]) {
      for (const id of ids) {
        const { status } = await ask(tag, fill(route.path, [id]), person.token);
        t.true(refused.has(status), `${route.method} ${fill(route.path, [id])} as ${person.email}: ${status}`);
      }
    }
    t.is(await fingerprint(), before);
  });
}

test('the ids tried are real: their owner, or the system administrator, reads with each route that reads', async (t) => {
  for (const tag of people.filter(
    ({ route }) => route.method === 'GET' && (route.path.match(/\{/g) ?? []).length === 1,
  )) {
    const statuses: number[] = [];
    for (const person of [victim.partner, victim.orgAdmin, admin]) {
      for (const id of ids) statuses.push((await ask(tag, fill(tag.route.path, [id]), person.token)).status);
    }
    // Reading one's own things (sessions) has no object that a tenant's example could make.
    if (tag.route.path.startsWith('/auth/')) continue;
    t.true(statuses.includes(200), `no id opens GET ${tag.route.path}; does ${tag.module}/test/example.ts make one?`);
  }
});

test('a person’s token opens no agent route, and an unknown token is refused', async (t) => {
  t.true(agents.length > 0);
  for (const tag of agents) {
    for (const token of [victim.partner.token, 'svc_nobody']) {
      t.is((await ask(tag, fill(tag.route.path, ids), token)).status, 401, tag.route.path);
    }
  }
});

test('without a token every route that is not open answers 401', async (t) => {
  for (const { route } of routeTags(platform.platform.modules)) {
    if ('open' in route.access) continue;
    const { status } = await platform.call(
      route.method,
      fill(route.path, ids),
      route.method === 'GET' || route.method === 'DELETE' ? {} : { body: {} },
    );
    t.is(status, 401, `${route.method} ${route.path}`);
  }
});
