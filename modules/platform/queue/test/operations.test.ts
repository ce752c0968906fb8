/** A real worker and what operators see of it: figures, history, failures, schedules, nodes, pauses. */
import test from 'ava';
import { type ErrorBody, until } from '#test';
import { countQueue } from '../services/domain-queues.ts';
import { takeSnapshot } from '../services/watching/snapshots.ts';
import { openGround } from './ground.ts';

const ground = await openGround();
const { platform, victim, call, add, node, hold, clear, workers } = ground;
test.after.always(() => platform.stop());
test.beforeEach(() => clear());

const TASK = 'audit/plan-retention';
const { work, log } = platform.platform.tasks;
const { EVERYWHERE, NOBODY } = await import('../../../../core/context/index.ts');
const { runUnitOfWork } = await import('#core/work');
const snapshot = (everySeconds = 2) =>
  runUnitOfWork(work, { actor: NOBODY, scope: EVERYWHERE, requestId: 'test', log, role: 'platform' }, (ctx) =>
    takeSnapshot(ctx, everySeconds),
  );
type Page<T> = { data: T[]; pagination: { total?: number; cursor: string | null } };
interface Run {
  jobId: number;
  task: string;
  outcome: string;
  attempt: number;
  errorMessage: string | null;
  subjectType: string | null;
  subjectId: string | null;
}
const runs = async (query: string) => (await call<Page<Run>>('GET', `/runs?${query}`)).body.data;

test.serial(
  'what ran is counted, timed, told in the history with its subject, and grouped when it failed',
  async (t) => {
    const good = await add('users/send-invitation', { invitationId: victim.orgId });
    // Two of one kind that differ only in their ids.
    const bad = [1, 2].map((n) =>
      platform.sql<{ id: number }>(
        `select id::int from graphile_worker.add_job('users/send-invitation', json_build_object('orgId', null, 'requestId', 'x',
         'data', json_build_object('invitationId', $1::text)), max_attempts := 1)`,
        [`nothing ${n}`],
      ),
    );
    const ids = (await Promise.all(bad)).map(([row]) => row?.id ?? 0);
    const running = await workers();
    t.teardown(() => running.stop());
    await until(async () => (await runs('task=users/send-invitation')).length === 3);
    await running.stop();
    const [told] = await runs(`jobId=${good}`);
    t.like(told, { outcome: 'success', attempt: 1, subjectType: 'invitation', subjectId: victim.orgId });
    const { body: groups } = await call<Page<{ count: number; task: string; sample: { message: string } }>>(
      'GET',
      '/failures?groupBy=fingerprint',
    );
    t.is(groups.data.length, 1);
    t.like(groups.data[0], { count: 2, task: 'users/send-invitation', outcome: 'failed' });
    const { body: paged } = await call<Page<object>>('GET', '/failures?cursor=&limit=1');
    t.is(paged.data.length, 1);
    const detail = await call<{ data: { attempted: Run[]; state: string } }>('GET', `/${ids[0]}`);
    t.is(detail.body.data.state, 'failed');
    t.like(detail.body.data.attempted[0], { outcome: 'failed' });

    t.true(await snapshot());
    t.false(await snapshot(15), 'another process has just done it');
    const { body: seen } = await call<Record<string, unknown>>('GET', '/overview?window=1h');
    t.like(seen, { ready: 0, failed: 2, running: 0, errorRate: 0.6667 });
    t.true((seen.throughputPerMin as number) > 0);
    t.is(typeof seen.p95LatencyMs, 'number');
    const { body: tasks } = await call<Page<{ task: string; sparkline: number[]; lastError: object; failed: number }>>(
      'GET',
      '/tasks',
    );
    const [task] = tasks.data.filter((one) => one.task === 'users/send-invitation');
    t.is(task?.failed, 2);
    t.truthy(task?.lastError);
    t.is(
      task?.sparkline.reduce((sum, n) => sum + n, 0),
      3,
    );
    t.true(tasks.data.length > 20);
    t.is((await call('GET', '/overview?window=15d')).status, 400);
  },
);

test.serial('metrics tell what waits, how old it is, and that workers live', async (t) => {
  await node('alive:1:00000000');
  await add(TASK, {}, { runAt: new Date(Date.now() - 120_000) });
  await platform.sql('delete from queue_snapshots');
  await snapshot();
  const { body } = await platform.call<string>('GET', '//metrics');
  t.regex(body, /jobs_ready\{task="audit\/plan-retention"\} 1/);
  const age = Number(/jobs_oldest_ready_seconds\{task="audit\/plan-retention"\} (\S+)/.exec(body)?.[1]);
  t.true(age > 100 && age < 200, String(age));
  t.regex(body, /worker_heartbeat_age_seconds\{node="alive:1:00000000"\} /);
  t.regex(body, /outbox_lag_seconds \d/);
  t.regex(body, /nodejs_eventloop_lag_p99_seconds \d/);
  t.regex(body, /database_pool_wait_seconds_bucket\{le="0.01",pool="platform"\} \d/);
});

test.serial('a schedule shows when it runs and how late it is, and starts by hand', async (t) => {
  interface Schedule {
    identifier: string;
    latenessSec: number;
    nextRun: string | null;
    lastRun: string | null;
    lastOutcome: string | null;
    enabled: boolean;
  }
  const one = async () =>
    (await call<Page<Schedule>>('GET', '/cron')).body.data.find(
      ({ identifier }) => identifier === 'audit/write-checkpoints',
    );
  t.like(await one(), { latenessSec: 0, lastRun: null, enabled: true });
  const next = new Date((await one())?.nextRun ?? 0);
  t.is(next.getTime() % 300_000, 0, 'each five minutes');
  t.true(next > new Date());
  await platform.sql(
    `insert into cron_status (identifier, last_run) values ('audit/write-checkpoints', now() - interval '1 hour')`,
  );
  t.true(((await one())?.latenessSec ?? 0) > 3000);
  const started = await call<{ data: { id: number } }>('POST', '/cron/audit%2Fwrite-checkpoints/run');
  t.is(started.status, 202);
  const running = await workers();
  t.teardown(() => running.stop());
  await until(async () => (await one())?.lastOutcome === 'success');
  await running.stop();
  t.is((await one())?.latenessSec, 0);
  t.is((await platform.audits({ action: 'job.cron.run' })).length, 1);
  t.is((await call('POST', '/cron/audit%2Fnothing/run')).status, 404);
  await call('POST', '/tasks/audit%2Fwrite-checkpoints/pause', {});
  t.like(await one(), { enabled: false, nextRun: null, latenessSec: 0 });
  t.is((await call('POST', '/cron/audit%2Fwrite-checkpoints/run')).status, 409);
});

test.serial('a node that is asked to drains: it ends what it runs, takes nothing more and leaves', async (t) => {
  const running = await workers();
  t.teardown(() => running.stop());
  const id = encodeURIComponent(running.nodeId);
  const listed = await call<Page<{ id: string; state: string }>>('GET', '/workers');
  t.like(listed.body.data[0], { id: running.nodeId, state: 'running', concurrency: 2 });
  t.like((await call<{ data: object }>('POST', `/workers/${id}/drain`)).body.data, { state: 'draining' });
  t.is((await call('POST', `/workers/${id}/drain`)).status, 409);
  const state = async () =>
    (await call<Page<{ id: string; state: string }>>('GET', '/workers?cursor=')).body.data.find(
      (one) => one.id === running.nodeId,
    )?.state;
  await until(async () => (await state()) === 'stopped');
  const late = await add(TASK, {});
  t.is((await call('GET', `/${late}`)).status, 200);
  await running.stop();
  t.is((await call('POST', '/workers/nobody:1:00000000/drain')).status, 404);
});

test.serial('what a dead node holds is given back by hand, its attempt too; a living node is left alone', async (t) => {
  await node('dead:1:00000000', { ago: '1 minute' });
  await node('alive:1:00000000');
  const id = await add(TASK, {});
  await hold(id, 'pool-dead:1:00000000');
  const refused = await call<ErrorBody>('POST', '/workers/alive:1:00000000/unlock');
  t.is(refused.body.error.code, 'INVALID_STATE');
  t.like((await call<{ data: object }>('POST', '/workers/dead:1:00000000/unlock')).body.data, {
    unlocked: 1,
    state: 'lost',
  });
  t.like((await call<{ data: object }>('GET', `/${id}`)).body.data, { state: 'ready', attempts: 0 });
  t.like((await runs(`jobId=${id}`))[0], { outcome: 'interrupted', errorMessage: 'Unlocked by an operator' });
});

test.serial('a paused task does not start, loses no attempt, and runs when it is resumed', async (t) => {
  const paused = await call<{ data: object }>('POST', '/tasks/audit%2Fplan-retention/pause', { reason: 'repairs' });
  t.like(paused.body.data, { paused: true, reason: 'repairs' });
  t.is((await call('POST', '/tasks/audit%2Fplan-retention/pause', {})).status, 200, 'again');
  t.is((await platform.audits({ action: 'job.task.pause' })).length, 2, 'once here, once in the test above');
  const held = await add(TASK, {});
  // A row without flags, as an older version wrote it: the gate itself sends it back.
  const [plain] = await platform.sql<{ id: number }>(
    `select id::int from graphile_worker.add_job('audit/plan-retention', '{"orgId":null,"requestId":"x","data":{}}', max_attempts := 1)`,
  );
  const other = await add('users/sweep-invitations', {});
  const running = await workers();
  t.teardown(() => running.stop());
  const gone = async (id: number) => (await call('GET', `/${id}`)).status === 404;
  await until(() => gone(other));
  const attempts = async (id: number) =>
    (
      await platform.sql<{ attempts: number; later: boolean; error: string | null }>(
        `select attempts, run_at > now() + interval '30 s' as later, last_error as error from graphile_worker.jobs where id = $1 and locked_at is null`,
        [id],
      )
    )[0];
  await until(async () => (await attempts(plain?.id ?? 0))?.later === true);
  t.like(await attempts(plain?.id ?? 0), { attempts: 0 });
  await until(async () => (await attempts(held))?.later === true);
  t.like(await attempts(held), { attempts: 0, error: null });
  t.deepEqual(await runs(`jobId=${plain?.id}`), []);
  await call('POST', '/tasks/audit%2Fplan-retention/resume', {});
  // The node hears of it with its next beat; until then what comes early is put off once more.
  await until(async () => {
    await platform.sql('select graphile_worker.reschedule_jobs($1, run_at := now())', [[held, plain?.id]]);
    return (await gone(held)) && (await gone(plain?.id ?? 0));
  });
  await running.stop();
  t.is((await call('POST', '/tasks/audit%2Fnothing/pause', {})).status, 404);
});

test.serial(
  'a put-off job whose worker died before it could give the attempt back is found and repaired',
  async (t) => {
    const id = await add(TASK, {});
    await ground.failed(id, 'Put off: enough of the tenant runs');
    await platform.sql('delete from queue_snapshots');
    await snapshot();
    t.like((await call<{ data: object }>('GET', `/${id}`)).body.data, { state: 'ready', attempts: 0 });
  },
);

test.serial(
  'queues in tables of other modules stand on the same page: pending, oldest, failed, where to look',
  async (t) => {
    const queues = work.fillings('queue.domain-queue') as Parameters<typeof countQueue>[1][];
    for (const queue of queues) {
      await runUnitOfWork(work, { actor: NOBODY, scope: EVERYWHERE, requestId: 'test', log, role: 'platform' }, (ctx) =>
        countQueue(ctx, queue),
      );
    }
    const { body } = await call<Page<{ name: string; pending: number; link: string }>>('GET', '/domain-queues');
    t.deepEqual(
      body.data.map(({ name }) => name),
      ['agent-updates', 'audit-exports', 'audit-outbox', 'device-commands', 'plugin-work', 'webhook-deliveries'],
    );
    const { body: overview } = await call<{ domainQueues: object[] }>('GET', '/overview');
    t.is(overview.domainQueues.length, 6);
  },
);
