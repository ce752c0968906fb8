/** Each write that succeeds leaves exactly the entry it declares, and one that is rolled back leaves none: for every route. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { startTestPlatform, tenant } from '#test';
import { type AnyRoute, auditsOf } from '../../core/contract/index.ts';
import { heedsKey } from '../../core/http/conventions/idempotency.ts';
import { arrange } from './ground/arranged.ts';
import { rank, successWays } from './ground/successes.ts';

/** Writes that no body and path made from schemas can bring to success, and the test that looks at their entries. */
const ELSEWHERE: Record<string, string> = {
  'POST /plugins/catalog': 'wants a package: plugins/test/catalog/catalog',
  'POST /plugins/installations': 'wants a plugin that is not installed yet: plugins/test/installations/life',
  'POST /plugins/installations/{id}/enable': 'starts the plugin: plugins/test/installations/life',
  'POST /plugins/installations/{id}/disable': 'starts the plugin: plugins/test/installations/life',
  'POST /plugins/installations/{id}/invoke/{action}': 'starts the plugin: plugins/test/installations/life',
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
  ...Object.fromEntries(
    [
      'POST {}/processes/{pid}/kill',
      ...['start', 'stop', 'restart'].map((verb) => `POST {}/services/{name}/${verb}`),
      ...['PUT {}/registry/value', 'DELETE {}/registry/value', 'POST {}/registry/key', 'DELETE {}/registry/key'],
      ...['run', 'enable', 'disable'].map((verb) => `POST {}/tasks/{path}/${verb}`),
      'POST {}/files/upload',
    ].map((label) => [
      label.replace('{}', '/system-tools/devices/{deviceId}'),
      'wants a device that is connected and answers: system-tools/test/endpoints, transfers',
    ]),
  ),
  'POST /agent-versions/sync-remote': 'wants signed releases: agent-versions/test/syncs',
  'POST /agent-versions/{id}/promote': 'wants a signed version: agent-versions/test/catalog',
  'POST /agent-versions/{id}/withdraw': 'wants a signed version: agent-versions/test/catalog',
};

const arranged = await arrange({ LOG_LEVEL: 'silent' });
const { platform, tags } = arranged;
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

const ways = await successWays(arranged);
test.after.always(() => platform.stop());
const writes = tags
  .map(({ route }) => route)
  .filter((route) => route.method !== 'GET' && auditsOf(route).length > 0 && 'permission' in route.access)
  .sort((a, b) => rank(a) - rank(b));

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

test('each write that succeeds leaves the entry it declares, and the same write rolled back leaves none', async (t) => {
  t.timeout(240_000);
  const exercised: string[] = [];
  const missed: string[] = [];
  for (const route of writes) {
    const label = `${route.method} ${route.path}`;
    if (ELSEWHERE[label]) continue;
    const arranged = await ways.arrange(route);
    const seen = new Set<string>();
    const works = await refusedThenDone(label, route, seen, arranged);
    if (!works) {
      missed.push(`${label}: ${[...seen].join(', ')}`);
      continue;
    }
    exercised.push(label);
    t.deepEqual(works.rolledBack, [], `${label} was rolled back`);
    t.is(works.done.length, 1, label);
    t.true(auditsOf(route).includes(works.done[0]?.action ?? ''), `${label} leaves ${works.done[0]?.action}`);
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

  /** What each of the two left behind; null where no body and path made from the schemas succeed. */
  async function refusedThenDone(label: string, route: AnyRoute, seen: Set<string>, arranged?: string[]) {
    const before = await newest();
    await refuse(true);
    for (const path of arranged ?? (await ways.paths(route))) {
      for (const { token } of ways.people) {
        const body = ways.bodyOf(route);
        const options = { token, ...(body === undefined ? {} : { body }) };
        const refused = await platform.call<{ error?: { code: string } }>(route.method, path, options);
        // Anything else was no success that could have been undone.
        if (refused.status !== 500) {
          seen.add(`${refused.status} ${refused.body.error?.code}`);
          continue;
        }
        await refuse(false);
        const rolledBack = await successes(before);
        const headers = { 'idempotency-key': randomUUID() };
        const { status, body: answer } = await platform.call(route.method, path, { ...options, headers });
        if (status >= 300) t.fail(`${label} answered ${status} after its twin had been rolled back`);
        const done = await successes(before);
        if (heedsKey(route)) {
          const again = await platform.call(route.method, path, { ...options, headers });
          // Whoever has logged out cannot ask again.
          const ended = again.status === 401;
          if (!ended) t.deepEqual([again.status, again.body], [status, answer], `${label} was sent again with its key`);
          t.deepEqual(await successes(before), done, `${label} was done twice for one key`);
        }
        return { rolledBack, done };
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
