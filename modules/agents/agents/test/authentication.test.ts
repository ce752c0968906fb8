/** The authentication of agents, and what a device may call in each state. */
import test from 'ava';
import {
  type Called,
  type ErrorBody,
  enrollAgent,
  enrollmentKey,
  type FakeAgent,
  startTestPlatform,
  tenant,
} from '#test';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

const newAgent = async () => {
  const at = await tenant(platform);
  return { ...at, agent: await enrollAgent(platform, { key: await enrollmentKey(platform, at) }) };
};
const inventory = { adapters: [] };
const codeOf = ({ body }: Called<unknown>) => (body as ErrorBody).error?.code.toUpperCase();

/** Repeats a call until it has the expected answer: a change reaches the caches within a second. */
async function until<B>(ask: () => Promise<Called<B>>, status: number): Promise<Called<B>> {
  const end = Date.now() + 60_000;
  for (;;) {
    const answer = await ask();
    if (answer.status === status || Date.now() > end) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
const setLifecycle = (agent: FakeAgent, lifecycle: string) =>
  platform.sql(
    `update devices set lifecycle = $2, quarantined_at = case when $2 = 'quarantined' then now() end,
       decommissioned_at = case when $2 = 'decommissioned' then now() end,
       uninstall_requested_at = case when $2 = 'decommissioned' then now() end where id = $1`,
    [agent.deviceId, lifecycle],
  );

test('a token of another device, an unknown token and no token get the same error', async (t) => {
  const [{ agent: mine }, { agent: other }] = await Promise.all([newAgent(), newAgent()]);
  for (const token of [other.token, `svc_${'0'.repeat(64)}`]) {
    const refused = await mine.call<ErrorBody>('POST', 'heartbeat', {}, token);
    t.is(refused.status, 401);
    t.is(codeOf(refused), 'UNAUTHENTICATED');
  }
  t.is((await platform.call('POST', `/agents/${mine.agentId}/heartbeat`, { body: {} })).status, 401);
  t.is((await mine.heartbeat()).status, 200);
});

test('a watchdog sends heartbeats, claims commands and writes logs but sends no inventory', async (t) => {
  const { agent } = await newAgent();
  const { watchdogAuthToken: watchdog } = agent.enrolled;
  t.is((await agent.call('POST', 'heartbeat', { watchdogState: 'monitoring' }, watchdog)).status, 200);
  t.is((await agent.call('GET', 'commands', undefined, watchdog)).status, 200);
  t.is((await agent.call('POST', 'logs', { logs: [] }, watchdog)).status, 201);
  const put = await agent.call<ErrorBody>('PUT', 'network', inventory, watchdog);
  t.is(put.status, 403);
  t.is(codeOf(put), 'FORBIDDEN');
  t.is((await agent.call('POST', 'rotate-token', {}, watchdog)).status, 403);
  t.is((await agent.call('GET', 'config', undefined, watchdog)).status, 200);
});

test('the heartbeat of a quarantined device is only acknowledged', async (t) => {
  const { agent } = await newAgent();
  t.is((await agent.put('network', inventory)).status, 200);
  await setLifecycle(agent, 'quarantined');
  const refused = await until<unknown>(() => agent.put('network', inventory), 403);
  t.is(codeOf(refused), 'DEVICE_QUARANTINED');
  for (const path of ['commands', 'config']) t.is((await agent.call('GET', path)).status, 403, path);
  t.is((await agent.call('POST', 'rotate-token', {})).status, 403);
  const beat = await agent.heartbeat();
  t.is(beat.status, 200);
  t.like(beat.body, { commands: [], rotateToken: false, uninstall: false, configUpdate: null });
});

test('a decommissioned device gets the command to remove its agent and may report its result', async (t) => {
  const { agent, orgId } = await newAgent();
  await platform.sql(
    `insert into device_commands (device_id, org_id, submitted_org_id, type, source, deliver_by, execution_timeout_seconds)
     values ($1, $2, $2, 'uninstall_agent', 'system', now() + interval '30 days', 7200)`,
    [agent.deviceId, orgId],
  );
  await setLifecycle(agent, 'decommissioned');
  const refused = await until<unknown>(() => agent.put('network', inventory), 403);
  t.is(codeOf(refused), 'DEVICE_DECOMMISSIONED');
  t.is((await agent.call('POST', 'rotate-token', {})).status, 403);
  const beat = await agent.heartbeat();
  t.like(beat.body, { uninstall: true, rotateToken: false });
  const commands = [...beat.body.commands, ...(await agent.commands())];
  t.deepEqual(
    commands.map(({ type }) => type),
    ['uninstall_agent'],
  );
  t.is((await agent.result(commands[0]?.id ?? '')).status, 200);
});

test('the agent of a purged device gets 410, an unknown agent does not', async (t) => {
  const { agent } = await newAgent();
  t.is((await agent.heartbeat()).status, 200);
  await platform.sql('delete from devices where id = $1', [agent.deviceId]);
  for (const ask of [() => agent.heartbeat(), () => agent.call('GET', 'commands')]) {
    const answer = await until<unknown>(ask, 410);
    t.is(answer.status, 410);
    t.is(codeOf(answer), 'DEVICE_GONE');
  }
  t.is((await agent.call('POST', 'heartbeat', {}, `svc_${'0'.repeat(64)}`)).status, 401);
});

test('while the organization is suspended, agents may only send heartbeats and logs, take commands and rotate tokens', async (t) => {
  const { agent, orgId } = await newAgent();
  await platform.sql(`update organizations set status = 'suspended' where id = $1`, [orgId]);
  const refused = await until<unknown>(() => agent.put('network', inventory), 403);
  t.is(codeOf(refused), 'TENANT_INACTIVE');
  t.is((await agent.call('GET', 'config')).status, 403);
  t.is((await agent.heartbeat()).status, 200);
  t.is((await agent.call('GET', 'commands')).status, 200);
  t.is((await agent.call('POST', 'logs', { logs: [] })).status, 201);
  t.is((await agent.call('POST', 'rotate-token', {})).status, 200);
});

test('suspended tokens require a new enrollment at once, in every role, until they are restored', async (t) => {
  const { agent } = await newAgent();
  t.is((await agent.heartbeat()).status, 200);
  const { work } = platform.platform.tasks;
  const { EVERYWHERE, NOBODY } = await import('../../../../core/context/index.ts');
  const { runUnitOfWork } = await import('#core/work');
  const asOperator = <T>(run: Parameters<typeof runUnitOfWork<T>>[2]) =>
    runUnitOfWork(
      work,
      { actor: NOBODY, scope: EVERYWHERE, requestId: 'test', log: platform.platform.tasks.log, role: 'platform' },
      run,
    );
  t.true(await asOperator((ctx) => ctx.use('agents').suspend(agent.deviceId, 'cloned token')));
  const refused = await until<unknown>(() => agent.heartbeat(), 401);
  t.is(codeOf(refused), 'RE_ENROLLMENT_REQUIRED');
  const watchdog = await agent.call('POST', 'heartbeat', {}, agent.enrolled.watchdogAuthToken);
  t.is(codeOf(watchdog), 'RE_ENROLLMENT_REQUIRED');
  t.true(await asOperator((ctx) => ctx.use('agents').restore(agent.deviceId)));
  t.is((await until(() => agent.heartbeat(), 200)).status, 200);
});

test('an agent that calls more than 120 times a minute is limited, another agent is not', async (t) => {
  const [{ agent }, { agent: neighbour }] = await Promise.all([newAgent(), newAgent()]);
  const answers = await Promise.all(Array.from({ length: 125 }, () => agent.call('GET', 'config')));
  t.is(answers.filter(({ status }) => status === 200).length, 120);
  const limited = answers.find(({ status }) => status === 429);
  t.true(Number(limited?.headers.get('retry-after')) >= 1);
  t.is((await neighbour.call('GET', 'config')).status, 200);
});
