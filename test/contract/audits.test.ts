/** Each write that succeeds leaves exactly the entry it declares, and one that is rolled back leaves none: for every route. */
import { randomUUID } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { type Called, type CallOptions, startTestPlatform, tenant } from '#test';
import { type AnyRoute, auditsOf } from '../../core/contract/index.ts';
import { heedsKey } from '../../core/http/conventions/idempotency.ts';
import { labelOf } from './fixtures/examples.ts';
import { openInstallation } from './fixtures/installation.ts';
import { succeeding, turnOf } from './fixtures/succeeding.ts';

const installation = await openInstallation({ LOG_LEVEL: 'silent' });
const { platform, tags, examples, context } = installation;
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

const { people, prepare, paths, body: bodyOf } = succeeding(installation);
test.after.always(() => installation.stop());
const writes = tags
  .map(({ route }) => route)
  .filter((route) => route.method !== 'GET' && auditsOf(route).length > 0 && 'permission' in route.access)
  .sort((a, b) => turnOf(installation, a) - turnOf(installation, b));

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

/** A request that may succeed; of several, one is tried after the other. */
interface Attempt {
  path: string;
  options: CallOptions;
}

/** All requests that may succeed, made before success is refused: preparing them changes things too. */
async function attemptsFor(route: AnyRoute): Promise<Attempt[]> {
  const call = await examples.of('calls', route)?.(context);
  if (call) {
    const { path, ...options } = call;
    return [{ path, options }];
  }
  const prepared = await prepare(route);
  const body = await bodyOf(route);
  return (prepared ?? (await paths(route))).flatMap((path) =>
    people.map(({ token }) => ({ path, options: { token, ...(body === undefined ? {} : { body }) } })),
  );
}

/** What a write left behind when it was rolled back, and when it was done. */
interface Left {
  rolledBack: Entry[];
  done: Entry[];
}

/** Sends a request again with the same key: the answer is the same, and nothing is done twice. */
async function sendAgain(t: ExecutionContext, route: AnyRoute, { path, options }: Attempt, first: Called<unknown>) {
  const done = await newest();
  const again = await platform.call(route.method, path, options);
  // A person who has logged out cannot ask again.
  if (again.status !== 401)
    t.deepEqual(
      [again.status, again.body],
      [first.status, first.body],
      `${labelOf(route)} was sent again with its key`,
    );
  t.deepEqual(await successes(done), [], `${labelOf(route)} was done twice for one key`);
}

/** Tries a write while success is refused, and then again. @returns null where the request does not come to success */
async function refusedThenDone(
  t: ExecutionContext,
  route: AnyRoute,
  attempt: Attempt,
  seen: Set<string>,
): Promise<Left | null> {
  const before = await newest();
  await refuse(true);
  const refused = await platform.call<{ error?: { code: string } }>(route.method, attempt.path, attempt.options);
  await refuse(false);
  // Any other answer was no success that could have been undone.
  if (refused.status !== 500) {
    seen.add(`${refused.status} ${refused.body.error?.code}`);
    return null;
  }
  const rolledBack = await successes(before);
  const headers = { ...attempt.options.headers, 'idempotency-key': randomUUID() };
  const keyed = { path: attempt.path, options: { ...attempt.options, headers } };
  const answer = await platform.call(route.method, keyed.path, keyed.options);
  if (answer.status >= 300) t.fail(`${labelOf(route)} answered ${answer.status} after its twin had been rolled back`);
  const done = await successes(before);
  if (heedsKey(route)) await sendAgain(t, route, keyed, answer);
  return { rolledBack, done };
}

async function firstThatWorks(t: ExecutionContext, route: AnyRoute, seen: Set<string>): Promise<Left | null> {
  for (const attempt of await attemptsFor(route)) {
    const left = await refusedThenDone(t, route, attempt, seen);
    if (left) return left;
  }
  return null;
}

test('each write that succeeds leaves the entry it declares, and the same write rolled back leaves none', async (t) => {
  t.timeout(240_000);
  const missed: string[] = [];
  let exercised = 0;
  for (const route of writes) {
    const label = labelOf(route);
    if (examples.of('testedIn', route)) continue;
    const seen = new Set<string>();
    const left = await firstThatWorks(t, route, seen);
    if (!left) {
      missed.push(`${label}: ${[...seen].join(', ')}`);
      continue;
    }
    exercised += 1;
    t.deepEqual(left.rolledBack, [], `${label} was rolled back`);
    t.is(left.done.length, 1, label);
    t.true(auditsOf(route).includes(left.done[0]?.action ?? ''), `${label} leaves ${left.done[0]?.action}`);
    const [{ action, details } = { action: '', details: {} }] = left.done;
    if (!action.endsWith('.update')) continue;
    t.true('before' in details || !('changedFields' in details), `${label} tells what was there before`);
    t.true('after' in details || !('changedFields' in details), `${label} tells what is there now`);
  }
  t.log(`${exercised} of ${writes.length} audited writes were tried, all others in tests of their own`);
  t.deepEqual(missed, [], 'no success: give a body, prepare what they need, or name the test of their entries');
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

test('behind trusted proxies the entry that the outermost of them wrote names the client', async (t) => {
  const behind = await startTestPlatform({ TRUST_PROXY_HEADERS: 'true', TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8' });
  t.teardown(() => behind.stop());
  const { orgAdmin, siteId, orgId } = await tenant(behind);
  const given = [
    { 'x-real-ip': '192.0.2.3' },
    { 'x-forwarded-for': '192.0.2.2, 10.0.0.1' },
    // The caller wrote the first entry, and headers that no proxy of ours sets.
    { 'x-real-ip': '192.0.2.3', 'x-forwarded-for': '10.0.0.9, 192.0.2.4, 10.0.0.1', 'cf-connecting-ip': '2001:db8::1' },
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
    ['127.0.0.1', '192.0.2.2', '192.0.2.4'],
  );
});
