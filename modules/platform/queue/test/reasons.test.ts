/** Why is it not running: each reason, told for the job that it holds back. */
import test from 'ava';
import { openGround } from './ground.ts';

const ground = await openGround({
  WORKER_TENANT_CONCURRENCY: '1',
  WORKER_TASK_CONCURRENCY: 'users/sweep-invitations=1',
});
const { platform, victim, call, add, hold, failed, node, clear } = ground;
test.after.always(() => platform.stop());
test.beforeEach(() => clear());

const TASK = 'audit/plan-retention';
const why = async (id: number) => {
  const { body } = await call<{
    data: { state: string; startable: boolean; reasons: { code: string; message: string }[] };
  }>('GET', `/${id}/why`);
  return body.data;
};
const codes = async (id: number) => (await why(id)).reasons.map(({ code }) => code);

test.serial('nothing keeps it: it is next', async (t) => {
  await node('alive:1:00000000');
  const id = await add(TASK, {});
  t.like(await why(id), { state: 'ready', startable: true });
  t.deepEqual(await codes(id), ['NEXT']);
});

test.serial('no worker, a worker that does not know the task, workers that drain', async (t) => {
  const id = await add(TASK, {});
  t.deepEqual(await codes(id), ['NO_WORKER']);
  await node('other:1:00000000', { tasks: ['users/sweep-invitations'] });
  t.deepEqual(await codes(id), ['TASK_UNKNOWN']);
  await node('alive:1:00000000');
  await call('POST', '/workers/alive:1:00000000/drain');
  t.deepEqual(await codes(id), ['ALL_DRAINING']);
});

test.serial('its state says it: not due, backing off, failed, cancelled, running, stuck', async (t) => {
  await node('alive:1:00000000', { tasks: [TASK, 'users/send-invitation'] });
  const soon = new Date(Date.now() + 3_600_000);
  const id = await add('users/send-invitation', { invitationId: victim.orgId }, { runAt: soon });
  t.deepEqual(await codes(id), ['NOT_DUE']);
  await platform.sql(`update graphile_worker._private_jobs set attempts = 1, last_error = 'no route' where id = $1`, [
    id,
  ]);
  const [backing] = (await why(id)).reasons.filter(({ code }) => code === 'BACKING_OFF');
  t.regex(backing?.message ?? '', /Attempt 1 of 5 failed \(no route\)/);
  await failed(id, 'no route');
  t.deepEqual(await codes(id), ['ATTEMPTS_USED_UP']);
  await call('POST', `/${id}/retry`, {});
  await call('POST', `/${id}/cancel`, { reason: 'no more' });
  t.deepEqual(await codes(id), ['CANCELLED']);
  const held = await add(TASK, {});
  await hold(held, 'pool-alive:1:00000000');
  t.deepEqual(await codes(held), ['RUNNING']);
  await node('alive:1:00000000', { ago: '1 minute' });
  t.deepEqual(await codes(held), ['STUCK']);
  t.is((await call('GET', '/999999/why')).status, 404);
});

test.serial('the whole chain: paused, its queue busy, its tenant at the limit, others before it', async (t) => {
  await node('alive:1:00000000', { tasks: ['audit/prune-organization'], concurrency: 1, active: 1 });
  const { orgId } = victim;
  const first = await add('audit/prune-organization', { orgId }, { orgId, queue: 'prune' });
  const second = await add('audit/prune-organization', { orgId }, { orgId, queue: 'prune' });
  const before = await add(TASK, {}, { priority: -1 });
  await hold(first, 'pool-alive:1:00000000');
  t.deepEqual(await codes(second), ['QUEUE_BUSY', 'TENANT_LIMIT']);
  await call('POST', '/tasks/audit%2Fprune-organization/pause', { reason: 'audit' });
  t.deepEqual(await codes(second), ['TASK_PAUSED', 'QUEUE_BUSY', 'TENANT_LIMIT']);
  await call('POST', '/tasks/audit%2Fprune-organization/resume', {});
  const third = await add('audit/prune-organization', { orgId }, { orgId });
  t.deepEqual(await codes(third), ['TENANT_LIMIT', 'BEHIND_OTHERS']);
  t.true(before > 0);
});

test.serial('a task at its limit, and workers that are all busy', async (t) => {
  await node('alive:1:00000000', { tasks: ['users/sweep-invitations', TASK], concurrency: 1, active: 1 });
  const running = await add('users/sweep-invitations', {});
  await hold(running, 'pool-alive:1:00000000');
  t.deepEqual(await codes(await add('users/sweep-invitations', {})), ['TASK_LIMIT', 'WORKERS_BUSY']);
  await clear();
  await node('alive:1:00000000', { concurrency: 1, active: 1 });
  t.deepEqual(await codes(await add(TASK, {})), ['WORKERS_BUSY']);
});
