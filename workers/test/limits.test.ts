/** Fairness on a real node: tenants at their limit, jobs put off, a stop that takes jobs back, and transactions that forget themselves. */
import { join } from 'node:path';
import test from 'ava';
import Joi from 'joi';
import { organization, startTestPlatform, tenant, until } from '#test';
import type { Context } from '../../core/context/index.ts';
import { startWorkers } from '../index.ts';

const platform = await startTestPlatform(
  { WORKER_TENANT_CONCURRENCY: '2', WORKER_TASK_CONCURRENCY: 'probe/rare=1' },
  join(import.meta.dirname, '../../core/test/modules'),
);
test.after.always(() => platform.stop());
const { registry, work } = platform.platform.tasks;

/** What the jobs of these tests do; each test says so anew. */
let act: (ctx: Context, payload: { n: number }) => Promise<void> = async () => undefined;
for (const name of ['probe/held', 'probe/rare']) {
  registry.addJob({
    module: 'probe',
    job: {
      name,
      summary: 'For tests',
      scope: 'tenant',
      payload: Joi.object({ n: Joi.number() }),
      maxAttempts: 1,
      run: (ctx, payload) => act(ctx, payload),
    },
  });
}
const add = (name: string, orgId: string, n: number) =>
  work.database.platform.query('select flush_effects($1::jsonb)', [
    JSON.stringify({ jobs: [registry.jobRow(name, { n }, { orgId, requestId: 'test' }, {})] }),
  ]);
const workers = (patienceMs = 25_000) =>
  startWorkers(platform.platform.tasks, { concurrency: 4, version: 'test', cron: false, patienceMs });

const left = async () => (await platform.sql('select 1 from graphile_worker.jobs')).length;
const gateOf = () => {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
};

test.serial(
  'one tenant never takes the whole node: another one’s job starts while long ones of the first wait',
  async (t) => {
    const { orgId, partnerId } = await tenant(platform);
    const other = await organization(platform, partnerId);
    const { open, opened } = gateOf();
    let most = 0;
    let now = 0;
    const started: string[] = [];
    act = async (ctx) => {
      started.push(ctx.scope.orgId ?? '');
      if (ctx.scope.orgId === other.orgId) return;
      now += 1;
      most = Math.max(most, now);
      await opened;
      now -= 1;
    };
    for (let n = 0; n < 30; n++) await add('probe/held', orgId, n);
    const node = await workers();
    t.teardown(() => node.stop());
    await until(() => now === 2);
    const begin = Date.now();
    await add('probe/held', other.orgId, 0);
    await until(() => started.includes(other.orgId));
    // The bound is two seconds; the test leaves room for a busy machine.
    t.true(Date.now() - begin < 10_000);
    open();
    // Each has one attempt: had putting off cost one, some would be left.
    await until(async () => (await left()) === 0);
    t.is(started.length, 31);
    t.true(most <= 2, `${most} of one tenant ran at once`);
  },
);

test.serial('a task with a limit of one runs one at a time, whoever it is for', async (t) => {
  const { orgId, partnerId } = await tenant(platform);
  const other = await organization(platform, partnerId);
  let now = 0;
  let most = 0;
  let ran = 0;
  act = async () => {
    now += 1;
    most = Math.max(most, now);
    await new Promise((resolve) => setTimeout(resolve, 20));
    now -= 1;
    ran += 1;
  };
  for (let n = 0; n < 5; n++) for (const org of [orgId, other.orgId]) await add('probe/rare', org, n);
  const node = await workers();
  t.teardown(() => node.stop());
  await until(async () => (await left()) === 0, 30);
  t.is(most, 1);
  t.is(ran, 10);
});

test.serial('a stop takes back what does not end in time, with its attempt, and the history says so', async (t) => {
  const { orgId } = await tenant(platform);
  const { open, opened } = gateOf();
  let held = false;
  act = async () => {
    held = true;
    await opened;
  };
  await add('probe/held', orgId, 1);
  const node = await workers(200);
  await until(() => held);
  await node.stop();
  const [row] = await platform.sql<{ attempts: number; locked_at: Date | null }>(
    'select attempts, locked_at from graphile_worker.jobs',
  );
  t.like(row, { attempts: 0, locked_at: null });
  const [run] = await platform.sql(`select outcome, error_message from job_runs where org_id = $1`, [orgId]);
  t.deepEqual(run, { outcome: 'interrupted', error_message: 'The worker was stopped' });
  open();
  await platform.sql('delete from graphile_worker._private_jobs');
});

test.serial('a job that kills its worker each time comes to an end after three interruptions', async (t) => {
  const { orgId } = await tenant(platform);
  await add('probe/held', orgId, 1);
  for (let n = 1; n <= 4; n++) {
    await platform.sql(
      `update graphile_worker._private_jobs set locked_at = now(), locked_by = 'pool-x', attempts = attempts + 1 where attempts < max_attempts`,
    );
    await platform.sql(`select interrupt_jobs('{pool-x}', 'x', 'died')`);
    const [row] = await platform.sql<{ attempts: number }>('select attempts from graphile_worker.jobs');
    t.is(row?.attempts, n <= 3 ? 0 : 1);
  }
  await platform.sql('delete from graphile_worker._private_jobs');
});

test.serial('the server ends a transaction that work left idle', async (t) => {
  for (const pool of [work.database.app, work.database.platform]) {
    const { rows } = await pool.query('show idle_in_transaction_session_timeout');
    t.deepEqual(rows, [{ idle_in_transaction_session_timeout: '1min' }]);
  }
});
