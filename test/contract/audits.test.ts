/** Each write that succeeds leaves exactly the entry it declares, and one that is rolled back leaves none: for every route. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { type Person, ROLES, startTestPlatform, systemUser, type Tenant, type TestPlatform, tenant } from '#test';
import type { AnyRoute } from '../../core/contract.ts';
import { routeTags } from '../../core/platform.ts';
import { sampleOf } from './sample.ts';

/** Writes that no body and path made from schemas can bring to success, and the test that looks at their entries. */
const ELSEWHERE: Record<string, string> = {
  'POST /auth/change-password': 'wants the password: identity/test/passwords',
  'POST /auth/phone/verify': 'wants the password, and sends a code: identity/test/events',
  'POST /auth/phone/confirm': 'wants the code that was sent: identity/test/events',
  'POST /auth/mfa/enable': 'wants a code of the authenticator: identity/test/events',
  'POST /auth/mfa/disable': 'wants a code of the authenticator: identity/test/events',
  'POST /auth/mfa/recovery-codes': 'wants a second factor in use: identity/test/events',
  'POST /auth/mfa/sms/enable': 'wants a proven number: identity/test/demands',
  'DELETE /auth/sessions/{id}': 'wants another session, which only a login makes: identity/test/logins',
  'POST /auth/passkeys': 'wants an authenticator: passkeys/test/registrations',
  'PATCH /auth/passkeys/{id}': 'wants a registered passkey: passkeys/test/registrations',
  'DELETE /auth/passkeys/{id}': 'wants a registered passkey: passkeys/test/registrations',
  'POST /devices/{id}/move-org': 'leaves an entry in each of two organizations: devices/test/moves',
  'POST /devices/{id}/merge': 'wants a second device of one machine that is away: devices/test/merges',
  'POST /agent-versions/sync-remote': 'wants signed releases: agent-versions/test/syncs',
  'POST /agent-versions/{id}/promote': 'wants a signed version: agent-versions/test/catalog',
  'POST /agent-versions/{id}/withdraw': 'wants a signed version: agent-versions/test/catalog',
};

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
/** A device in no static group, and an invitation, of the victim. */
const [{ id: spare = '' } = {}] = await platform.sql<{ id: string }>(
  `select id from devices d where org_id = $1 and not exists (select from device_group_members m where m.device_id = d.id
     and m.group_id in (select id from device_groups where type = 'static')) limit 1`,
  [victim.orgId],
);
const [{ id: invited = '' } = {}] = await platform.sql<{ id: string }>(
  'select id from invitations where org_id = $1 limit 1',
  [victim.orgId],
);
test.after.always(() => platform.stop());

const all = routeTags(platform.platform.modules).map(({ route }) => route);
const reads = new Set(all.filter(({ method }) => method === 'GET').map(({ path }) => path));
/** Removals come last, the tenant's own last of all; logging out ends the session that the others need. */
const rank = ({ method, path }: AnyRoute) =>
  /logout|sessions/.test(path)
    ? 4
    : method !== 'DELETE'
      ? 0.5 * Number(path.endsWith('/complete'))
      : /organizations|partners/.test(path)
        ? 3
        : /users/.test(path)
          ? 2
          : // What lies below a thing before the thing.
            1 + 0.1 * Number(!/\}.*\}/.test(path));
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
  'POST /devices/bulk/commands': () => ({ deviceIds: [spare], type: 'reboot' }),
  'POST /devices/provision': () => ({
    orgId: victim.orgId,
    siteId: victim.siteId,
    hostname: randomUUID(),
    osType: 'linux',
  }),
  'POST /devices/{id}/maintenance': () => ({ minutes: 5 }),
  'POST /filters': () => ({ orgId: victim.orgId, name: randomUUID(), conditions: tree }),
  'POST /filters/preview': () => ({ conditions: tree }),
  'POST /groups/{id}/devices': () => ({ deviceIds: [spare] }),
  'POST /groups/{id}/preview': () => ({ filter: tree }),
  'POST /tags/bulk': () => ({ deviceIds: [spare], add: [`t${randomUUID().slice(0, 8)}`] }),
  'POST /tags/rename': () => ({ orgId: victim.orgId, from: 'renamed', to: `t${randomUUID().slice(0, 8)}` }),
  'POST /users/resend-invite': () => ({ userId: invited }),
  'PATCH /access-reviews/{id}/items/{itemId}': () => ({ decision: 'approved' }),
  'POST /sso/providers': () => ({
    name: randomUUID(),
    issuer: `https://${randomUUID().slice(0, 8)}.example.com`,
    clientId: 'quartermaster',
    clientSecret: 'x',
  }),
};
const tree = { operator: 'AND', conditions: [{ field: 'osType', operator: 'equals', value: 'linux' }] };
/** What has to be so before an operation can succeed; may give the paths to try. */
const ARRANGE: Record<string, () => Promise<string[] | undefined>> = {
  'POST /access-reviews/{id}/complete': () => set(`update access_review_items set decision = 'approved'`),
  'POST /devices/{id}/restore': () =>
    set(`update devices set lifecycle = 'decommissioned', decommissioned_at = now() where id = $1`, [spare]),
  'POST /devices/{id}/deny': async () => [`/devices/${await another('quarantined')}/deny`],
  'DELETE /devices/{id}/permanent': async () => [
    `/devices/${await another('decommissioned')}/permanent?confirm=another`,
  ],
  'DELETE /devices/{id}/maintenance': async () => {
    const path = `/devices/${await another('active')}/maintenance`;
    await platform.call('POST', path, { token: victim.orgAdmin.token, body: { minutes: 5 } });
    return [path];
  },
  'POST /tags/rename': () => set(`update devices set tags = '{renamed}' where id = $1`, [spare]),
  'DELETE /groups/{id}/devices/{deviceId}': () => members('static'),
  'POST /groups/{id}/devices/{deviceId}/pin': async () => (await members('dynamic')).map((path) => `${path}/pin`),
  'DELETE /groups/{id}/devices/{deviceId}/pin': async () => {
    const pins = (await members('dynamic')).map((path) => `${path}/pin`);
    for (const path of pins) await platform.call('POST', path, { token: victim.orgAdmin.token });
    return pins;
  },
};
async function set(text: string, values: unknown[] = []): Promise<undefined> {
  await platform.sql(text, values);
}
async function another(lifecycle: 'active' | 'quarantined' | 'decommissioned'): Promise<string> {
  const [row] = await platform.sql<{ id: string }>(
    `with made as (
       insert into devices (org_id, site_id, hostname, os_type, lifecycle, decommissioned_at)
       values ($1, $2, 'another', 'linux', $3, case $3 when 'decommissioned' then now() end) returning id, org_id)
     insert into device_state (device_id, org_id) select id, org_id from made returning device_id as id`,
    [victim.orgId, victim.siteId, lifecycle],
  );
  return row?.id ?? '';
}
async function members(type: 'static' | 'dynamic'): Promise<string[]> {
  const rows = await platform.sql<{ path: string }>(
    `select '/groups/' || group_id || '/devices/' || device_id as path from device_group_members
     where org_id = $1 and group_id in (select id from device_groups where type = $2)`,
    [victim.orgId, type],
  );
  return rows.map(({ path }) => path);
}

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
  details: Record<string, unknown>;
}
async function newest(): Promise<number> {
  await platform.platform.settle();
  const [row] = await platform.sql<{ pos: number }>('select coalesce(max(pos), 0)::int as pos from audit_logs');
  return row?.pos ?? 0;
}
async function successes(after: number): Promise<Entry[]> {
  await platform.platform.settle();
  const rows = await platform.sql<Entry>('select action, result, details from audit_logs where pos > $1 order by pos', [
    after,
  ]);
  return rows.filter((row) => row.result === 'success');
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
    if (ELSEWHERE[label]) continue;
    const arranged = await ARRANGE[label]?.();
    candidates = await ids();
    const works = await refusedThenDone(label, route, arranged);
    if (!works) {
      missed.push(label);
      continue;
    }
    exercised.push(label);
    t.deepEqual(works.rolledBack, [], `${label} was rolled back`);
    t.deepEqual(
      works.done.map(({ action }) => action),
      [route.audit as string],
      label,
    );
    const [{ action, details } = { action: '', details: {} }] = works.done;
    if (!action.endsWith('.update')) continue;
    t.true('before' in details || !('changedFields' in details), `${label} tells what was there before`);
    t.true('after' in details || !('changedFields' in details), `${label} tells what is there now`);
  }
  t.log(`${exercised.length} of ${writes.length} audited writes were tried, all others in tests of their own`);
  t.deepEqual(missed, [], 'no success: give a body, arrange what they need, or say which test looks at their entries');
  const labels = writes.map(({ method, path }) => `${method} ${path}`);
  t.deepEqual(
    Object.keys(ELSEWHERE).filter((label) => !labels.includes(label)),
    [],
  );

  function bodyOf(label: string, { method, payload }: AnyRoute): unknown {
    if (method === 'DELETE' || !payload) return undefined;
    return BODIES[label]?.() ?? fitted(sampleOf(payload));
  }

  /** What each of the two left behind; null where no body and path made from the schemas succeed. */
  async function refusedThenDone(label: string, route: AnyRoute, arranged?: string[]) {
    const before = await newest();
    await refuse(true);
    for (const path of arranged ?? (await paths(route))) {
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
