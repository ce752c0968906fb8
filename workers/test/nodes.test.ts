/** Worker nodes: jobs run, history is kept, and what a dead node held is run again. */
import { join } from 'node:path';
import test from 'ava';
import { startTestPlatform, tenant, until } from '#test';
import { freeDeadNodes } from '../../core/jobs/nodes.ts';
import { layOutMinute, startScheduled } from '../../core/jobs/schedule.ts';
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
