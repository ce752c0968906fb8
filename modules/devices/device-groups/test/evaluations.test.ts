/** Evaluations that no request asks for: second evaluations, mass changes, failures, and periodic evaluations. */
import test from 'ava';
import { startTestPlatform } from '#test';
import { caller, place, where } from './arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const { call, dynamic, hosts, log, patch, patchDevice, read, runJob } = caller(platform);

const evaluate = (groupId: string, orgId: string) => runJob('device-groups/evaluate-group', { groupId }, orgId);
const cpu = (deviceId: string, percent: number) =>
  platform.sql('update device_state set latest_metrics = $2 where device_id = $1', [
    deviceId,
    JSON.stringify({ cpuPercent: percent }),
  ]);
const later = (groupId: string, minutes: number) =>
  platform.sql(
    `update device_group_members set unmatch_since = unmatch_since - make_interval(mins => $2) where group_id = $1`,
    [groupId, minutes],
  );
const events = (orgId: string, name: string) =>
  platform.sql<{ data: Record<string, unknown> }>('select data from events where org_id = $1 and name = $2', [
    orgId,
    name,
  ]);
const scheduled = (groupId: string) =>
  platform.sql<{ key: string; seconds: number }>(
    `select key, extract(epoch from run_at - now())::int as seconds from graphile_worker.jobs
     where task_identifier = 'device-groups/evaluate-group' and key like '%' || $1 order by key`,
    [groupId],
  );

test.serial(
  'values that heartbeats change remove members only at a second evaluation, not if they match again',
  async (t) => {
    const { token, id, orgId } = await place(platform, 'a', 'b');
    for (const name of ['a', 'b']) {
      await cpu(id(name), 95);
      await patchDevice(token, id(name), { tags: ['hot'] });
    }
    const made = await dynamic(token, where(['metrics.cpuPercent', 'greaterThan', 90], ['tags', 'hasAny', ['hot']]));
    const group = made.body.data.id;
    t.is(made.body.data.evaluationMode, 'mixed');
    await cpu(id('a'), 10);
    await evaluate(group, orgId);
    t.deepEqual(await hosts(token, group), ['a', 'b'], 'doubted');
    await evaluate(group, orgId);
    t.deepEqual(await hosts(token, group), ['a', 'b'], 'two looks within a minute are one');
    await cpu(id('a'), 99);
    await evaluate(group, orgId);
    await cpu(id('a'), 10);
    await later(group, 5);
    await evaluate(group, orgId);
    t.deepEqual(await hosts(token, group), ['a', 'b'], 'it had come back, so this is the first look again');
    await later(group, 5);
    await evaluate(group, orgId);
    t.deepEqual(await hosts(token, group), ['b']);
    await patchDevice(token, id('b'), { tags: [] });
    await platform.runJobs();
    t.deepEqual(await hosts(token, group), [], 'a tag that is taken away does not flicker');
  },
);

test.serial('a changed filter applies at once, whatever fields it uses', async (t) => {
  const { token, id } = await place(platform, 'a', 'b');
  await cpu(id('a'), 95);
  const group = (await dynamic(token, where(['metrics.cpuPercent', 'greaterThan', 90]))).body.data;
  t.is(group.evaluationMode, 'periodic');
  const changed = await patch(token, group.id, { filter: where(['metrics.cpuPercent', 'greaterThan', 97]) });
  t.deepEqual(changed.body.evaluation, { added: 0, removed: 1 });
});

test.serial('a mass change is held back for a cycle, then done, with an event', async (t) => {
  const names = Array.from({ length: 24 }, (_, n) => `host-${String(n).padStart(2, '0')}`);
  const { token, orgId } = await place(platform, ...names);
  const group = (await dynamic(token, where(['agentVersion', 'equals', '1.0.0']))).body.data.id;
  await platform.sql(`update devices set agent_version = '2.0.0' where org_id = $1 and hostname > 'host-09'`, [orgId]);
  await platform.runJobs();
  t.is((await read(token, group)).deviceCount, 24);
  t.deepEqual(
    (await scheduled(group)).filter(({ key }) => key.startsWith('group-held:')).map(({ seconds }) => seconds > 250),
    [true],
  );
  await evaluate(group, orgId);
  t.is((await read(token, group)).deviceCount, 24, 'the cycle is not over');
  t.deepEqual(await events(orgId, 'device-groups.mass_change'), []);
  await platform.sql(`update device_groups set held_since = now() - interval '5 minutes' where id = $1`, [group]);
  await evaluate(group, orgId);
  t.is((await read(token, group)).deviceCount, 10);
  t.like((await events(orgId, 'device-groups.mass_change'))[0]?.data, { groupId: group, removed: 14, of: 24 });
});

test.serial('a mass change that is not confirmed by the next evaluation leaves the group as it was', async (t) => {
  const names = Array.from({ length: 20 }, (_, n) => `host-${n}`);
  const { token, orgId } = await place(platform, ...names);
  const group = (await dynamic(token, where(['agentVersion', 'equals', '1.0.0']))).body.data.id;
  await platform.sql(`update devices set agent_version = '2.0.0' where org_id = $1`, [orgId]);
  await platform.runJobs();
  await platform.sql(`update devices set agent_version = '1.0.0' where org_id = $1`, [orgId]);
  await platform.runJobs();
  await evaluate(group, orgId);
  const [row] = await platform.sql<{ held_since: Date | null }>('select held_since from device_groups where id = $1', [
    group,
  ]);
  t.is(row?.held_since, null);
  t.deepEqual(
    (await log(group)).filter((entry) => entry.startsWith('removed')),
    [],
  );
  // A request evaluates at once.
  const { body } = await patch(token, group, { filter: where(['agentVersion', 'equals', '9']) });
  t.deepEqual(body.evaluation, { added: 0, removed: 20 });
});

test.serial('a filter that cannot be evaluated keeps the members, stores the reason, and is repeated', async (t) => {
  const { token, id, orgId } = await place(platform, 'a', 'b');
  const field = await platform.call<{ data: { id: string } }>('POST', '/custom-fields', {
    token,
    body: { name: 'Rack', fieldKey: 'rack', type: 'text' },
  });
  await patchDevice(token, id('a'), { customFields: { rack: 'R1' } });
  const group = (await dynamic(token, where(['custom.rack', 'isNotNull']))).body.data.id;
  t.deepEqual(await hosts(token, group), ['a']);
  await platform.call('DELETE', `/custom-fields/${field.body.data.id}?confirm=rack&force=true`, { token });
  await platform.runJobs();
  t.deepEqual(await hosts(token, group), ['a']);
  t.like(await read(token, group), { evaluationStatus: 'error', deviceCount: 1 });
  t.regex((await read(token, group)).lastEvaluationError ?? '', /unknown field/);
  const [retry] = (await scheduled(group)).filter(({ key }) => key === `group:${group}`);
  t.true(retry !== undefined && retry.seconds > 20 && retry.seconds <= 30, JSON.stringify(retry));
  t.deepEqual(await events(orgId, 'device-groups.evaluation.failed'), []);
  await evaluate(group, orgId);
  await evaluate(group, orgId);
  await evaluate(group, orgId);
  const told = await events(orgId, 'device-groups.evaluation.failed');
  t.is(told.length, 1);
  t.like(told[0]?.data, { groupId: group });
  const { status, body } = await call('POST', `/${group}/preview`, token, {});
  t.deepEqual([status, body.error.code], [400, 'VALIDATION_ERROR']);
  await patch(token, group, { filter: where(['hostname', 'equals', 'b']) });
  t.like(await read(token, group), { evaluationStatus: 'ready', lastEvaluationError: null, deviceCount: 1 });
});

test.serial('during an evaluation of a group, any number of others result in one more evaluation', async (t) => {
  const { token, orgId } = await place(platform, 'a');
  const group = (await dynamic(token, where(['osType', 'equals', 'linux']))).body.data.id;
  const busy = await platform.platform.tasks.work.database.owner.connect();
  await busy.query('begin');
  await busy.query('select take_device_group_turn($1)', [group]);
  await evaluate(group, orgId);
  await evaluate(group, orgId);
  await busy.query('commit');
  busy.release();
  t.deepEqual(
    (await scheduled(group)).map(({ key, seconds }) => [key, seconds <= 1]),
    [[`group:${group}`, true]],
  );
});

test.serial('periodic evaluations include groups that use times, and nightly ones all groups', async (t) => {
  const { token, id } = await place(platform, 'a', 'b');
  const event = (await dynamic(token, where(['hostname', 'equals', 'a']))).body.data;
  const fresh = (await dynamic(token, where(['enrolledAt', 'withinLast', { amount: 2, unit: 'days' }]))).body.data;
  const silent = (await dynamic(token, where(['daysSinceLastSeen', 'greaterThan', 30]))).body.data;
  t.deepEqual([event.evaluationMode, fresh.evaluationMode, silent.evaluationMode], ['event', 'mixed', 'periodic']);
  await platform.sql(`delete from graphile_worker._private_jobs`);
  await runJob('device-groups/schedule-periodic');
  const keys = async (groupId: string) => (await scheduled(groupId)).map(({ key }) => key.split(':')[0]);
  t.deepEqual([await keys(event.id), await keys(fresh.id)], [[], ['group-periodic']]);
  await runJob('device-groups/reconcile-groups');
  t.deepEqual(await keys(event.id), ['group-reconcile']);
  await platform.sql(`update devices set enrolled_at = now() - interval '3 days' where id = $1`, [id('a')]);
  await platform.sql(`update graphile_worker._private_jobs set run_at = now()`);
  await platform.runJobs();
  t.deepEqual(await hosts(token, fresh.id), ['b']);
  t.deepEqual(await hosts(token, event.id), ['a']);
  await platform.sql('update device_groups set device_count = 7 where id = $1', [event.id]);
  await runJob('device-groups/reconcile-groups');
  t.is((await read(token, event.id)).deviceCount, 1);
});

test.serial('an evaluation that takes too long is an error in a request, and in a job keeps the members', async (t) => {
  const { token, orgId } = await place(platform, 'a');
  const slow = where(['hostname', 'matches', '^a'], ['status', 'equals', 'online']);
  const [expensive, plain] = [
    (await dynamic(token, slow)).body.data.id,
    (await dynamic(token, where(['hostname', 'equals', 'a']))).body.data.id,
  ];
  // Readers of the state wait here until the time limit for regular expressions is over.
  const holding = await platform.platform.tasks.work.database.owner.connect();
  await holding.query('begin; lock table device_state in access exclusive mode');
  const refused = await patch(token, plain, { filter: slow });
  await evaluate(expensive, orgId);
  await holding.query('rollback');
  holding.release();
  t.deepEqual([refused.status, refused.body.error.code], [400, 'FILTER_TOO_EXPENSIVE']);
  t.like(await read(token, plain), { filterFields: ['hostname'], deviceCount: 1, evaluationStatus: 'ready' });
  t.like(await read(token, expensive), { deviceCount: 1, evaluationStatus: 'error' });
});
