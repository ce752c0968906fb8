/** Each write that succeeds leaves exactly the entry it declares, and one that is rolled back leaves none: for every route. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { type Person, ROLES, startTestPlatform, systemUser, type Tenant, type TestPlatform, tenant } from '#test';
import type { AnyRoute } from '../../core/contract.ts';
import { routeTags } from '../../core/platform.ts';
import { sampleOf } from './sample.ts';

/** Operations that this test brings to success today; when it falls below, routes or samples have come apart. */
const FLOOR = 45;

const platform = await startTestPlatform({ LOG_LEVEL: 'silent' });
const victim = await tenant(platform);
const admin = await systemUser(platform);
for (const { folder } of platform.platform.modules) {
  const file = join(folder, 'test', 'example.ts');
  if (!existsSync(file)) continue;
  const { default: example } = (await import(file)) as {
    default: (platform: TestPlatform, tenant: Tenant) => Promise<unknown>;
  };
  await example(platform, victim);
}
await platform.runJobs();
// While it says so, no change can record that it succeeded, and so no change can commit.
await platform.sql(`
  create table refusing (yes boolean not null);
  insert into refusing values (false);
  create function refuse_success() returns trigger language plpgsql security definer set search_path = public as $$
  begin
    if (select yes from refusing) and new.entry ->> 'result' = 'success' then raise exception 'refused by the test'; end if;
    return new;
  end $$;
  create trigger refuse_success before insert on audit_outbox for each row execute function refuse_success();
`);
test.after.always(() => platform.stop());

const all = routeTags(platform.platform.modules).map(({ route }) => route);
const reads = new Set(all.filter(({ method }) => method === 'GET').map(({ path }) => path));
/** Removals come last, the tenant's own last of all; logging out ends the session that the others need. */
const rank = ({ method, path }: AnyRoute) =>
  /logout|sessions/.test(path)
    ? 4
    : method !== 'DELETE'
      ? 0
      : /organizations|partners/.test(path)
        ? 3
        : /users/.test(path)
          ? 2
          : 1;
const writes = all
  .filter((route) => route.method !== 'GET' && typeof route.audit === 'string' && 'permission' in route.access)
  .sort((a, b) => rank(a) - rank(b));

/** What a field's name says about the value it wants; the rest is as plain as the schema allows. */
const KNOWN: Record<string, (plain: unknown) => unknown> = {
  orgId: () => victim.orgId,
  siteId: () => victim.siteId,
  partnerId: () => victim.partnerId,
  userId: () => victim.viewer.id,
  roleId: () => ROLES.viewer,
  email: () => `${randomUUID().slice(0, 8)}@example.com`,
  name: () => `Name ${randomUUID().slice(0, 8)}`,
  slug: () => `slug-${randomUUID().slice(0, 8)}`,
  timezone: () => 'Europe/Vienna',
  issuer: () => 'https://login.example.com',
};
/** Bodies whose rules no schema tells. */
const BODIES: Record<string, () => object> = {
  'POST /users/invite': () => ({ email: `${randomUUID().slice(0, 8)}@example.com`, name: 'New', roleId: ROLES.viewer }),
  'POST /users/{id}/role': () => ({ roleId: ROLES.technician }),
  'PATCH /users/{id}': () => ({ name: `Name ${randomUUID().slice(0, 8)}` }),
  'POST /custom-fields': () => ({
    orgId: victim.orgId,
    name: randomUUID(),
    fieldKey: `k${randomUUID().slice(0, 8)}`,
    type: 'text',
  }),
  'POST /devices/{id}/commands': () => ({ type: 'reboot' }),
  'PATCH /access-reviews/{id}/items/{itemId}': () => ({ decision: 'approved' }),
  'POST /sso/providers': () => ({
    name: randomUUID(),
    issuer: `https://${randomUUID().slice(0, 8)}.example.com`,
    clientId: 'quartermaster',
    clientSecret: 'x',
  }),
};
const fitted = (value: unknown): unknown =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [key, KNOWN[key] ? KNOWN[key](inner) : fitted(inner)]),
      )
    : value;

async function ids(): Promise<string[]> {
  const tables = await platform.sql<{ tab: string }>(
    `select c.table_name as tab from information_schema.columns c
     join pg_class k on k.oid = to_regclass(c.table_name) and not k.relispartition
     where c.table_schema = 'public' and c.column_name = 'id' and c.data_type = 'uuid'
       and c.table_name not in ('audit_logs', 'events') and exists (
         select from information_schema.columns o where o.table_name = c.table_name and o.column_name = 'org_id')`,
  );
  const found = [victim.orgId, victim.partnerId, victim.viewer.id];
  for (const { tab } of tables) {
    const rows = await platform.sql<{ id: string }>(`select id from ${tab} where org_id = $1 limit 2`, [victim.orgId]);
    found.push(...rows.map((row) => row.id));
  }
  // Revoking keys and reviewing roles needs items of the tenant that name no organization.
  const items = await platform.sql<{ id: string }>('select id from access_review_items limit 2').catch(() => []);
  return [...new Set([...found, ...items.map((row) => row.id)])];
}

/** Paths that may mean something: the ids that the GET of the same object finds, else every id. */
async function paths(route: AnyRoute): Promise<string[]> {
  let open = [''];
  let known = '';
  for (const part of route.path.split('/').slice(1)) {
    known += `/${part}`;
    if (!part.startsWith('{')) {
      open = open.map((path) => `${path}/${part}`);
      continue;
    }
    const tried = open.flatMap((path) => candidates.map((id) => `${path}/${id}`));
    const real: string[] = [];
    if (reads.has(known)) {
      for (const path of tried) {
        const answers = await Promise.all(people.map(({ token }) => platform.call('GET', path, { token })));
        if (answers.some(({ status }) => status === 200)) real.push(path);
      }
    }
    open = real.length > 0 ? real : tried.slice(0, 60);
  }
  return open;
}

interface Entry {
  action: string;
  result: string;
}
async function newest(): Promise<number> {
  await platform.platform.settle();
  const [row] = await platform.sql<{ pos: number }>('select coalesce(max(pos), 0)::int as pos from audit_logs');
  return row?.pos ?? 0;
}
async function successes(after: number): Promise<string[]> {
  await platform.platform.settle();
  const rows = await platform.sql<Entry>('select action, result from audit_logs where pos > $1 order by pos', [after]);
  return rows.filter((row) => row.result === 'success').map((row) => row.action);
}
const refuse = (yes: boolean) => platform.sql('update refusing set yes = $1', [yes]);

const people: Person[] = [victim.orgAdmin, victim.partner, admin];
let candidates: string[] = [];

test('each write that succeeds leaves the entry it declares, and the same write rolled back leaves none', async (t) => {
  t.timeout(240_000);
  const exercised: string[] = [];
  const missed: string[] = [];
  for (const route of writes) {
    const label = `${route.method} ${route.path}`;
    candidates = await ids();
    const works = await refusedThenDone(label, route);
    if (!works) {
      missed.push(label);
      continue;
    }
    exercised.push(label);
    t.deepEqual(works.rolledBack, [], `${label} was rolled back`);
    t.deepEqual(works.done, [route.audit as string], label);
  }
  t.log(`${exercised.length} of ${writes.length} audited writes succeeded; not reached: ${missed.join(', ')}`);
  t.true(exercised.length >= FLOOR, `only ${exercised.length} operations succeeded, expected ${FLOOR}`);

  function bodyOf(label: string, { method, payload }: AnyRoute): unknown {
    if (method === 'DELETE' || !payload) return undefined;
    return BODIES[label]?.() ?? fitted(sampleOf(payload));
  }

  /** What each of the two left behind; null where no body and path made from the schemas succeed. */
  async function refusedThenDone(label: string, route: AnyRoute) {
    const before = await newest();
    await refuse(true);
    for (const path of await paths(route)) {
      for (const { token } of people) {
        const body = bodyOf(label, route);
        const options = { token, ...(body === undefined ? {} : { body }) };
        const refused = await platform.call(route.method, path, options);
        // Anything else was no success that could have been undone.
        if (refused.status !== 500) continue;
        await refuse(false);
        const rolledBack = await successes(before);
        const { status } = await platform.call(route.method, path, options);
        if (status >= 300) t.fail(`${label} answered ${status} after its twin had been rolled back`);
        return { rolledBack, done: await successes(before) };
      }
    }
    return null;
  }
});

test('a 403 on a write leaves a denied entry, with who, from where and with what', async (t) => {
  const { viewer, siteId, orgId } = await tenant(platform);
  const denied = await platform.call('PATCH', `/orgs/sites/${siteId}`, {
    token: viewer.token,
    body: { name: 'x' },
    headers: { 'user-agent': 'curl/8', 'x-forwarded-for': '192.0.2.77' },
  });
  t.is(denied.status, 403);
  await platform.platform.settle();
  const rows = await platform.sql('select * from audit_logs where org_id = $1', [orgId]);
  t.is(rows.length, 1);
  t.like(rows[0], {
    action: 'site.update',
    result: 'denied',
    actor_type: 'user',
    actor_id: viewer.id,
    actor_email: viewer.email,
    user_agent: 'curl/8',
    // Nobody said that proxies are trusted here.
    ip_address: '127.0.0.1',
  });
  t.truthy(rows[0]?.error_message);
});

test('behind a trusted proxy the first of the three headers names the client', async (t) => {
  const behind = await startTestPlatform({ TRUST_PROXY_HEADERS: 'true' });
  t.teardown(() => behind.stop());
  const { orgAdmin, siteId, orgId } = await tenant(behind);
  const given = [
    { 'x-real-ip': '192.0.2.3' },
    { 'x-real-ip': '192.0.2.3', 'x-forwarded-for': '192.0.2.2, 10.0.0.1' },
    { 'x-real-ip': '192.0.2.3', 'x-forwarded-for': '192.0.2.2', 'cf-connecting-ip': '2001:db8::1' },
  ];
  for (const headers of given) {
    await behind.call('PATCH', `/orgs/sites/${siteId}`, {
      token: orgAdmin.token,
      body: { name: randomUUID() },
      headers: headers as Record<string, string>,
    });
  }
  await behind.platform.settle();
  const rows = await behind.sql<{ ip_address: string }>(
    'select ip_address from audit_logs where org_id = $1 order by seq',
    [orgId],
  );
  t.deepEqual(
    rows.map((row) => row.ip_address),
    ['192.0.2.3', '192.0.2.2', '2001:db8::1'],
  );
});
