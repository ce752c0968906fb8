/** One piece of work: what it writes, what it leaves behind, and what is undone with it. */
import { join } from 'node:path';
import test from 'ava';
import { apiKey, type ErrorBody, partnerUser, startTestPlatform, tenant } from '#test';

const platform = await startTestPlatform({}, join(import.meta.dirname, 'modules'));
test.after.always(() => platform.stop());

const write = (token: string, text: string, next: string) =>
  platform.call<ErrorBody>('POST', '/probe/notes', { token, body: { text, next } });
const texts = async (like: string) =>
  (await platform.sql<{ text: string }>('select text from notes where text like $1 order by 1', [`${like}%`])).map(
    (row) => row.text,
  );

test('a change and its audit entry commit together, secrets struck out and odd ids kept in the details', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  t.is((await write(orgAdmin.token, 'one', 'audit')).status, 201);
  const [entry] = await platform.audits({ orgId });
  t.like(entry, {
    action: 'probe.note',
    actor_id: orgAdmin.id,
    resource_id: '00000000-0000-0000-0000-000000000000',
    result: 'success',
  });
  t.deepEqual(entry?.details, { text: 'one', password: '[REDACTED]', rawResourceId: 'not-a-uuid' });
});

test('a promised audit entry that was not recorded undoes the request', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const answer = await write(orgAdmin.token, 'two', 'forget');
  t.is(answer.body.error.code, 'AUDIT_MISSING');
  t.deepEqual(await texts('two'), []);
});

test('a write that found nothing to change needs no audit entry', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  t.is((await write(orgAdmin.token, 'three', 'unchanged')).status, 201);
  t.deepEqual(await platform.audits({ orgId }), []);
});

test('a refused request leaves no row and no success entry, and an inner failure tells nothing of the inside', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  t.is((await write(orgAdmin.token, 'four', 'throw')).body.error.code, 'INVALID_STATE');
  const crash = await write(orgAdmin.token, 'four', 'crash');
  t.deepEqual(
    [crash.status, crash.body],
    [500, { error: { code: 'INTERNAL_ERROR', message: 'Internal error', details: [] } }],
  );
  t.deepEqual(await texts('four'), []);
  t.deepEqual(await platform.audits({ orgId }), []);
});

test('a job and an event are committed with the change that caused them, and run in its organization', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  await write(orgAdmin.token, 'five', 'job');
  await write(orgAdmin.token, 'fiver', 'event');
  await write(orgAdmin.token, 'fives', 'throw');
  await platform.runJobs();
  t.deepEqual(await texts('five'), ['five', 'five by job', 'fiver', 'fiver by event']);
  const rows = await platform.sql('select distinct org_id from notes where text like $1', ['five%']);
  t.deepEqual(rows, [{ org_id: orgId }]);
});

interface Recorded {
  id: string;
  correlation_id: string;
  causation_id: string | null;
  depth: number;
  caused_by: string[];
}
const eventsOf = (orgId: string) =>
  platform.sql<Recorded>(
    'select id, correlation_id, causation_id, depth, caused_by from events where org_id = $1 order by depth, xid, seq',
    [orgId],
  );

test('events of one request have one correlation, also those of the jobs that it added', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  await write(orgAdmin.token, 'cause', 'both');
  await platform.runJobs();
  const events = await eventsOf(orgId);
  t.is(events.length, 2);
  t.deepEqual([...new Set(events.map((one) => one.correlation_id))].length, 1);
  t.deepEqual(
    events.map(({ depth, causation_id }) => [depth, causation_id]),
    [
      [0, null],
      [0, null],
    ],
  );
  const other = await tenant(platform);
  await write(other.orgAdmin.token, 'cause', 'both');
  t.not((await eventsOf(other.orgId))[0]?.correlation_id, events[0]?.correlation_id);
});

test('what answers events names the one that led to its own, and a chain ends after five', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  await write(orgAdmin.token, 'echo', 'event');
  await platform.runJobs();
  const events = await eventsOf(orgId);
  t.deepEqual(
    events.map(({ depth }) => depth),
    [0, 1, 2, 3, 4, 5, 6],
    'an event at depth 6 is recorded, and not acted on',
  );
  t.deepEqual(
    events.map(({ causation_id }) => causation_id),
    [null, ...events.slice(0, -1).map(({ id }) => id)],
  );
  t.is(new Set(events.map((one) => one.correlation_id)).size, 1);
});

test('what acts in a name does not act on what follows from itself', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  await write(orgAdmin.token, 'named', 'event');
  await platform.runJobs();
  t.deepEqual(
    (await eventsOf(orgId)).map(({ depth, caused_by }) => [depth, caused_by]),
    [
      [0, []],
      [1, ['probe:named']],
    ],
  );
});

test('a failing job undoes its own work and audit, and keeps its error in the queue', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  await write(orgAdmin.token, 'six', 'late');
  await platform.runJobs();
  t.deepEqual(await texts('boom'), []);
  t.is((await platform.audits({ orgId })).length, 1);
  const [job] = await platform.sql<{ last_error: string; attempts: number }>(
    `select last_error, attempts from graphile_worker.jobs where task_identifier = 'probe/note'`,
  );
  t.is(job?.attempts, 1);
  t.regex(job?.last_error ?? '', /job 42 failed on purpose/);
});

test('plain SQL that names no tenant still sees only what the caller reaches', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  await write(mine.orgAdmin.token, 'seven mine', 'audit');
  await write(theirs.orgAdmin.token, 'seven theirs', 'audit');
  const read = await platform.call<{ texts: string[] }>('GET', '/probe/notes', { token: mine.partner.token });
  t.deepEqual(read.body.texts, ['seven mine']);
  const nobody = await partnerUser(platform, {
    partnerId: mine.partnerId,
    roleId: mine.partnerRoleId,
    orgAccess: 'none',
  });
  t.deepEqual(
    (await platform.call<{ texts: string[] }>('GET', '/probe/notes', { token: nobody.token })).body.texts,
    [],
  );
});

test('work that talks to the world is refused a transaction', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const answer = await platform.call<{ refused: string }>('POST', '/probe/world', { token: orgAdmin.token, body: {} });
  t.regex(answer.body.refused, /no transaction/);
});

test('an API key reaches exactly its scopes, and * does not open what demands a second factor', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  const key = (scopes: string[]) => apiKey(platform, { orgId, scopes, createdBy: orgAdmin.id });
  const read = async (scopes: string[]) =>
    platform.call<ErrorBody>('GET', '/probe/notes', { apiKey: await key(scopes) });
  const allowed = await read(['devices:read']);
  t.is(allowed.status, 200);
  t.is(allowed.headers.get('x-ratelimit-limit'), '1000');
  t.is((await read(['*'])).status, 200);
  const lacking = await read(['sites:read']);
  t.deepEqual([lacking.status, lacking.body.error.message], [403, 'API key does not have required permissions']);
  t.is((await platform.call('POST', '/probe/world', { apiKey: await key(['*']), body: {} })).status, 403);
  t.is((await platform.call('POST', '/probe/world', { apiKey: await key(['devices:execute']), body: {} })).status, 200);
});

test('revoked, expired, unknown and malformed API keys are refused, and use is counted', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  const key = await apiKey(platform, { orgId, scopes: ['*'], createdBy: orgAdmin.id });
  const ask = (apiKeyText: string) => platform.call<ErrorBody>('GET', '/probe/notes', { apiKey: apiKeyText });
  t.is((await ask(key)).status, 200);
  await platform.platform.settle();
  const [used] = await platform.sql(
    'select usage_count, last_used_at is not null as used from api_keys where org_id = $1',
    [orgId],
  );
  t.deepEqual(used, { usage_count: 1, used: true });
  t.is((await ask('svc_unknown')).status, 401);
  t.is((await ask('other')).status, 401);
  const revoked = await apiKey(platform, { orgId, scopes: ['*'], createdBy: orgAdmin.id });
  await platform.sql(`update api_keys set status = 'revoked' where usage_count = 0 and org_id = $1`, [orgId]);
  t.is((await ask(revoked)).body.error.message, 'API key is revoked');
  const expired = await apiKey(platform, { orgId, scopes: ['*'], createdBy: orgAdmin.id });
  await platform.sql(
    `update api_keys set expires_at = now() - interval '1 minute' where status = 'active' and usage_count = 0 and org_id = $1`,
    [orgId],
  );
  t.is((await ask(expired)).body.error.message, 'API key is expired');
  await platform.platform.settle();
  const [row] = await platform.sql(`select count(*)::int as n from api_keys where org_id = $1 and status = 'expired'`, [
    orgId,
  ]);
  t.deepEqual(row, { n: 1 });
});

test('an API key over its hourly limit gets 429 with Retry-After', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  const key = await apiKey(platform, { orgId, scopes: ['*'], createdBy: orgAdmin.id });
  await platform.sql('update api_keys set rate_limit = 2 where org_id = $1', [orgId]);
  const ask = () => platform.call<ErrorBody & { retryAfter: number }>('GET', '/probe/notes', { apiKey: key });
  t.deepEqual([(await ask()).status, (await ask()).status], [200, 200]);
  const over = await ask();
  t.is(over.status, 429);
  t.true(Number(over.headers.get('retry-after')) > 0);
  t.is(over.headers.get('x-ratelimit-remaining'), '0');
});
