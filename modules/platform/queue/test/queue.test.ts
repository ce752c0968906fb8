/** The queue row by row: what state each is in, running one again, cancelling one, and many at once. */
import test from 'ava';
import type { ErrorBody } from '#test';
import { openGround, type Seen } from './ground.ts';

const ground = await openGround();
const { platform, victim, call, add, hold, failed, node, clear } = ground;
test.after.always(() => platform.stop());
test.beforeEach(() => clear());

type List = { data: Seen[]; pagination: { total?: number; cursor: string | null; hasMore: boolean } };
const TASK = 'audit/plan-retention';
const states = async (query = '') => (await call<List>('GET', `?${query}`)).body.data.map(({ state }) => state);

test.serial('each row shows the state it is in, and a filter finds each of them', async (t) => {
  await node('alive:1:00000000');
  const soon = new Date(Date.now() + 3_600_000);
  const ids = {
    ready: await add(TASK, {}),
    delayed: await add(TASK, {}, { runAt: soon }),
    running: await add(TASK, {}, { queue: 'one' }),
    blocked: await add(TASK, {}, { queue: 'one' }),
    stuck: await add(TASK, {}),
    retrying: await add('users/sweep-invitations', {}, { runAt: soon }),
    failed: await add('users/sweep-invitations', {}),
    cancelled: await add('users/sweep-invitations', {}),
  };
  await hold(ids.running, 'pool-alive:1:00000000');
  await hold(ids.stuck, 'pool-dead:1:00000000');
  await platform.sql('update graphile_worker._private_jobs set attempts = 1, max_attempts = 3 where id = $1', [
    ids.retrying,
  ]);
  await failed(ids.failed, 'boom');
  await call('POST', `/${ids.cancelled}/cancel`, { reason: 'not wanted' });
  for (const [state, id] of Object.entries(ids)) {
    const { body } = await call<List>('GET', `?state=${state}`);
    t.deepEqual(
      body.data.map((row) => [row.id, row.state]),
      [[id, state]],
      state,
    );
  }
  t.is((await states('task=users/sweep-invitations')).length, 3);
  t.deepEqual(await states('errorContains=BOOM'), ['failed']);
  t.deepEqual(await states('queue=one'), ['running', 'blocked']);
});

test.serial('one that has run for more than ten minutes and three times as long as others is stuck', async (t) => {
  await node('alive:1:00000000');
  const id = await add(TASK, {});
  await hold(id, 'pool-alive:1:00000000', '11 minutes');
  t.deepEqual(await states(), ['stuck']);
  // Others take five minutes: then eleven are nothing special.
  await platform.sql(
    `insert into queue_snapshots (at, task, ready, blocked, delayed, locked, retrying, failed, cancelled, stuck, oldest_locked_at)
     values (now(), $1, 0, 0, 0, 1, 0, 0, 0, 0, now() - interval '11 minutes')`,
    [TASK],
  );
  await platform.sql(
    `insert into job_stats_minute select date_trunc('minute', now()), $1, 'x', 10, 10, 0, 0, 0, 0, 0, 0,
       array[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,10,0,0], array[10,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]`,
    [TASK],
  );
  t.deepEqual(await states(), ['running']);
  await platform.sql('delete from job_stats_minute');
  await platform.sql('delete from queue_snapshots');
});

test.serial('lists page by number and by cursor in the same stable order, also by organization', async (t) => {
  for (let n = 0; n < 5; n++) await add('audit/prune-organization', { orgId: victim.orgId }, { orgId: victim.orgId });
  await add(TASK, {});
  const first = await call<List>('GET', '?limit=2&cursor=');
  const second = await call<List>('GET', `?limit=2&cursor=${first.body.pagination.cursor}`);
  const paged = await call<List>('GET', '?limit=2&page=2');
  t.deepEqual(second.body.data, paged.body.data);
  t.is(paged.body.pagination.total, 6);
  t.true(first.body.pagination.hasMore);
  const { body } = await call<List>('GET', `?orgId=${victim.orgId}`);
  t.is(body.data.length, 5);
  t.true(body.data.every(({ orgId }) => orgId === victim.orgId));
  t.is((await call('GET', '?cursor=nonsense')).status, 400);
});

test.serial('no answer holds what was given to the job', async (t) => {
  const id = await add('users/send-invitation', { invitationId: '11111111-2222-4333-8444-555555555555' });
  await failed(id, 'could not reach smtp://mailer:hunter2hunter2@mail.example.com with token=abcdefgh12345678');
  const { body } = await call<{ data: Seen }>('GET', `/${id}`);
  t.notRegex(JSON.stringify(body), /11111111-2222|hunter2|abcdefgh/);
  t.regex(body.data.lastError ?? '', /\[REDACTED\]/);
});

test.serial('a retry brings a failed job back with all attempts, or with one more', async (t) => {
  const [a, b] = [await add('users/send-invitation', { invitationId: victim.orgId }), await add(TASK, {})];
  await failed(a, 'boom');
  await failed(b, 'boom');
  const whole = await call<{ data: Seen }>('POST', `/${a}/retry`, {});
  t.like(whole.body.data, { state: 'ready', attempts: 0 });
  const runAt = new Date(Date.now() + 60_000).toISOString();
  const more = await call<{ data: Seen & { maxAttempts: number } }>('POST', `/${b}/retry`, {
    runAt,
    resetAttempts: false,
  });
  t.like(more.body.data, { state: 'retrying', attempts: 3, maxAttempts: 4, runAt });
  const entries = await platform.audits({ action: 'job.retry' });
  t.deepEqual(
    entries.map(({ details }) => details.jobId),
    [a, b],
  );
});

test.serial('a running job is neither retried nor cancelled, and a finished one is gone', async (t) => {
  await node('alive:1:00000000');
  const id = await add(TASK, {});
  await hold(id, 'pool-alive:1:00000000');
  for (const [what, body] of [
    ['retry', {}],
    ['cancel', { reason: 'x' }],
  ] as const) {
    const answer = await call<ErrorBody>('POST', `/${id}/${what}`, body);
    t.is(answer.status, 409);
    t.is(answer.body.error.code, 'JOB_LOCKED');
    t.is((await call('POST', `/999999/${what}`, body)).status, 404);
  }
  t.is((await call('GET', '/999999')).status, 404);
});

test.serial('a cancelled job does not run, says why, and can be retried', async (t) => {
  const id = await add(TASK, {});
  const cancelled = await call<{ data: Seen }>('POST', `/${id}/cancel`, { reason: 'duplicate' });
  t.like(cancelled.body.data, { state: 'cancelled', lastError: 'Cancelled: duplicate' });
  t.is((await call('POST', `/${id}/cancel`, { reason: 'again' })).status, 409);
  await platform.runJobs();
  t.is((await call('GET', `/${id}`)).status, 200);
  await call('POST', `/${id}/retry`, {});
  await platform.runJobs();
  t.is((await call('GET', `/${id}`)).status, 404);
});

test.serial(
  'many at once: a dry run changes nothing, what runs is skipped, and the entry names the filter',
  async (t) => {
    await node('alive:1:00000000');
    for (let n = 0; n < 3; n++) await failed(await add(TASK, {}), `boom ${n}`);
    await hold(await add(TASK, {}), 'pool-alive:1:00000000');
    const filter = { task: TASK };
    const dry = await call('POST', '/bulk', { action: 'retry', filter, dryRun: true });
    t.deepEqual(dry.body, { matched: 4, changed: 0, skippedLocked: 1, remaining: 3 });
    t.is((await states('state=failed')).length, 3);
    t.is((await platform.audits({ action: 'job.bulk' })).length, 0);
    const done = await call('POST', '/bulk', { action: 'retry', filter });
    t.deepEqual(done.body, { matched: 4, changed: 3, skippedLocked: 1, remaining: 0 });
    t.is((await states('state=ready')).length, 3);
    const ids = (await call<List>('GET', '?state=ready')).body.data.map(({ id }) => id);
    t.like((await call('POST', '/bulk', { action: 'cancel', ids: ids.slice(0, 1), reason: 'enough' })).body, {
      changed: 1,
    });
    t.like((await call('POST', '/bulk', { action: 'delete', ids })).body, { changed: 3 });
    const entries = await platform.audits({ action: 'job.bulk' });
    t.like(entries[0]?.details, { action: 'retry', changed: 3 });
    t.deepEqual(entries[0]?.details.filter, filter);
  },
);

test.serial('a filter that fits more than a thousand wants a dry run first', async (t) => {
  await platform.sql(
    `select count(graphile_worker.add_job('audit/plan-retention', '{}')) from generate_series(1, 1200)`,
  );
  const filter = { task: TASK };
  const refused = await call<ErrorBody>('POST', '/bulk', { action: 'delete', filter });
  t.is(refused.status, 400);
  t.is(refused.body.error.code, 'FILTER_TOO_BROAD');
  const dry = await call<{ matched: number; confirm: string }>('POST', '/bulk', {
    action: 'delete',
    filter,
    dryRun: true,
  });
  t.is(dry.body.matched, 1200);
  const { confirm } = dry.body;
  t.is(
    (await call('POST', '/bulk', { action: 'cancel', reason: 'x', filter, confirm })).status,
    400,
    'of another action',
  );
  const done = await call('POST', '/bulk', { action: 'delete', filter, confirm });
  t.like(done.body, { matched: 1200, changed: 1200, remaining: 0 });
});

test.serial('only system administrators come here, and change only with a second factor', async (t) => {
  const id = await add(TASK, {});
  for (const { token } of [victim.partner, victim.orgAdmin]) {
    for (const path of [
      '',
      '/overview',
      '/tasks',
      '/cron',
      '/workers',
      '/failures',
      '/runs',
      '/domain-queues',
      `/${id}`,
      `/${id}/why`,
    ])
      t.is((await platform.call('GET', `/admin/jobs${path}`, { token })).status, 403, path);
    t.is((await platform.call('POST', `/admin/jobs/${id}/retry`, { token, body: {} })).status, 403);
    t.is(
      (await platform.call('POST', '/admin/jobs/bulk', { token, body: { action: 'delete', ids: [id] } })).status,
      403,
    );
  }
  t.deepEqual(await states(), ['ready']);
});
