/** Worker nodes: jobs run, history is kept, and what a dead node held is run again. */
import { join } from 'node:path';
import test from 'ava';
import pg from 'pg';
import { startTestPlatform, tenant, until } from '#test';
import { openHistory } from '../../core/jobs/history.ts';
import { freeDeadNodes } from '../../core/jobs/nodes.ts';
import { layOutMinute, startMissed, startScheduled } from '../../core/jobs/schedule.ts';
import { startWorkers } from '../index.ts';

const platform = await startTestPlatform({}, join(import.meta.dirname, '../../core/test/modules'));
const { owner } = platform.platform.tasks.work.database;
test.after.always(() => platform.stop());

test.serial('a node runs jobs, writes their history without payload, beats, and leaves properly', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const workers = await startWorkers(platform.platform.tasks, { concurrency: 2, version: 'test', cron: false });
  for (const next of ['job', 'late']) {
    await platform.call('POST', '/probe/notes', { token: orgAdmin.token, body: { text: `history ${next}`, next } });
  }
  await until(async () => (await platform.sql(`select 1 from job_runs where org_id = $1`, [orgId])).length >= 2);
  const [node] = await platform.sql(
    'select state, concurrency, cardinality(worker_ids) as ids from worker_nodes where id = $1',
    [workers.nodeId],
  );
  t.deepEqual(node, { state: 'running', concurrency: 2, ids: 1 });
  const runs = await platform.sql(
    'select task, outcome, attempt, error_message, error_fingerprint is not null as print from job_runs where org_id = $1 order by outcome',
    [orgId],
  );
  t.deepEqual(runs, [
    { task: 'probe/note', outcome: 'error', attempt: 1, error_message: 'job 42 failed on purpose', print: true },
    { task: 'probe/note', outcome: 'success', attempt: 1, error_message: null, print: false },
  ]);
  await workers.stop();
  t.deepEqual(await platform.sql('select state from worker_nodes where id = $1', [workers.nodeId]), [
    { state: 'stopped' },
  ]);
});

test.serial('a job locked by a node that stopped beating is freed and run by another', async (t) => {
  const { orgAdmin } = await tenant(platform);
  await platform.call('POST', '/probe/notes', { token: orgAdmin.token, body: { text: 'orphan', next: 'job' } });
  await platform.sql(
    `update graphile_worker._private_jobs set locked_at = now(), locked_by = 'worker-dead' where key is null and attempts = 0`,
  );
  await platform.sql(
    `insert into worker_nodes (id, version, concurrency, worker_ids, heartbeat_at) values ('dead', 'x', 1, '{worker-dead}', now() - interval '1 minute')`,
  );
  await platform.runJobs();
  t.is((await platform.sql(`select 1 from notes where text = 'orphan by job'`)).length, 0);
  t.deepEqual(await freeDeadNodes(owner), ['dead']);
  await platform.runJobs();
  t.is((await platform.sql(`select 1 from notes where text = 'orphan by job'`)).length, 1);
});

test.serial('a lock that no living node holds is freed too, even when its node was never heard of', async (t) => {
  const { orgAdmin } = await tenant(platform);
  await platform.call('POST', '/probe/notes', { token: orgAdmin.token, body: { text: 'stray', next: 'job' } });
  await platform.sql(
    `update graphile_worker._private_jobs set locked_at = now() - interval '5 minutes', locked_by = 'worker-unknown' where attempts = 0`,
  );
  await freeDeadNodes(owner);
  await platform.runJobs();
  t.is((await platform.sql(`select 1 from notes where text = 'stray by job'`)).length, 1);
});

test.serial('a scheduled tenant job fans out once an organization, also when the fan-out runs twice', async (t) => {
  await platform.sql('delete from graphile_worker._private_jobs');
  const { registry } = platform.platform.tasks;
  const known = registry.jobs.get('probe/note');
  if (!known) return t.fail();
  const Joi = (await import('joi')).default;
  registry.addJob({
    module: 'probe',
    job: { ...known.job, name: 'probe/often', payload: Joi.object({}), schedule: { every: 20 } },
  });
  const organizations = await platform.sql('select id from organizations');
  const at = new Date(Date.now() + 3_600_000);
  await startScheduled(owner, registry, 'probe/often', at);
  await startScheduled(owner, registry, 'probe/often', at);
  const count = async () =>
    (await platform.sql(`select 1 from graphile_worker.jobs where task_identifier = 'probe/often'`)).length;
  t.is(await count(), organizations.length);
  await layOutMinute(owner, registry, at);
  t.is(await count(), organizations.length * 4);
  registry.jobs.delete('probe/often');
  await platform.sql('delete from graphile_worker._private_jobs');
});

test.serial(
  'a schedule that passed while the server was away is made up for once, and a paused one is not',
  async (t) => {
    await platform.sql('delete from graphile_worker._private_jobs');
    const { registry } = platform.platform.tasks;
    const known = registry.jobs.get('probe/note');
    if (!known) return t.fail();
    const Joi = (await import('joi')).default;
    const job = { ...known.job, scope: 'platform', payload: Joi.object({}), schedule: { cron: '30 3 * * *' } } as const;
    for (const name of ['probe/missed', 'probe/paused', 'probe/kept', 'probe/new'])
      registry.addJob({ module: 'probe', job: { ...job, name } });
    const now = new Date('2040-05-05T09:00:00Z');
    await platform.sql(
      `insert into cron_status (identifier, last_expected) values ('probe/missed', '2040-05-02T03:30:00Z'),
       ('probe/paused', '2040-05-02T03:30:00Z'), ('probe/kept', '2040-05-05T03:30:00Z')`,
    );
    await platform.sql(`insert into paused_tasks (task) values ('probe/paused')`);
    const started = () =>
      platform.sql<{ task: string; at: Date }>(
        `select task_identifier as task, run_at as at from graphile_worker.jobs where task_identifier like 'probe/%' order by 1`,
      );
    const expected = ['probe/missed', 'probe/new'].map((task) => ({ task, at: new Date('2040-05-05T03:30:00Z') }));
    await startMissed(owner, registry, now);
    t.deepEqual(await started(), expected);
    await platform.sql('delete from graphile_worker._private_jobs');
    await startMissed(owner, registry, new Date(now.getTime() + 60_000));
    t.deepEqual(await started(), []);
    await platform.sql(`delete from paused_tasks where task = 'probe/paused'`);
    // Within two minutes of its time the start of a schedule is not missed, but about to be.
    await startMissed(owner, registry, new Date('2040-05-06T03:31:00Z'));
    t.deepEqual(
      (await started()).map(({ task }) => task),
      ['probe/paused'],
    );
    for (const name of ['probe/missed', 'probe/paused', 'probe/kept', 'probe/new']) registry.jobs.delete(name);
    await platform.sql('delete from graphile_worker._private_jobs');
  },
);

test.serial('what failed while the database took no writes is in the history once it does', async (t) => {
  const pool = new pg.Pool({ connectionString: platform.platform.tasks.work.database.url, max: 1 });
  const { log } = platform.platform.tasks;
  const history = openHistory(pool, 'outage', log, () => true);
  const run = (task: string, error: string | null) => {
    const at = new Date();
    const outcome = error ? ('failed' as const) : ('success' as const);
    history.add({
      ...{
        jobId: '1',
        task,
        queue: null,
        key: null,
        attempt: 1,
        dueAt: at,
        startedAt: at,
        finishedAt: at,
        outcome,
        error,
      },
      ...{ orgId: null, subject: null },
    });
  };
  const kept = () => platform.sql(`select task, outcome from job_runs where node_id = 'outage' order by task`);
  await pool.query('set default_transaction_read_only = on');
  run('probe/during', 'the database accepts no writes');
  await history.flush();
  t.deepEqual(await kept(), []);
  await pool.query('set default_transaction_read_only = off');
  run('probe/later', null);
  await history.flush();
  t.deepEqual(await kept(), [
    { task: 'probe/during', outcome: 'failed' },
    { task: 'probe/later', outcome: 'success' },
  ]);
  t.deepEqual(
    await platform.sql(`select task, failed, succeeded from job_stats_minute where node_id = 'outage' order by task`),
    [
      { task: 'probe/during', failed: 1, succeeded: 0 },
      { task: 'probe/later', failed: 0, succeeded: 1 },
    ],
  );
  t.is(
    (await platform.sql(`select 1 from cron_status where identifier = 'probe/during' and last_outcome = 'failed'`))
      .length,
    1,
  );
  await pool.end();
});
