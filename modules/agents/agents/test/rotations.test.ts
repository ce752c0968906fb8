/** The two-phase rotation of an agent's tokens. */
import test from 'ava';
import { agentOf, type ErrorBody, enrollAgent, enrollmentKey, type FakeAgent, sharedPlatform, tenant } from '#test';

const platform = await sharedPlatform();
test.after.always(() => platform.stop());

interface Tokens {
  authToken: string;
  watchdogAuthToken: string;
}
const newAgent = async () => {
  const at = await tenant(platform);
  return { ...at, agent: await enrollAgent(platform, { key: await enrollmentKey(platform, at) }) };
};
const rotate = (agent: FakeAgent, token?: string) => agent.call<Tokens & ErrorBody>('POST', 'rotate-token', {}, token);
const confirm = (agent: FakeAgent, token: string) => agent.call<ErrorBody>('POST', 'rotate-token/confirm', {}, token);
const beat = async (agent: FakeAgent, token: string) => (await agent.call('POST', 'heartbeat', {}, token)).status;

test('new tokens are valid once they are confirmed, and the old ones remain valid for ten minutes', async (t) => {
  const { agent, orgId } = await newAgent();
  const { status, body } = await rotate(agent);
  t.is(status, 200);
  t.deepEqual(Object.keys(body).sort(), ['authToken', 'watchdogAuthToken']);
  t.is(await beat(agent, body.authToken), 401, 'a pending token is valid for the confirmation only');
  t.is(await beat(agent, agent.token), 200);
  t.is((await confirm(agent, body.authToken)).status, 200);
  for (const token of [body.authToken, body.watchdogAuthToken, agent.token, agent.enrolled.watchdogAuthToken])
    t.is(await beat(agent, token), 200);
  await platform.sql(
    `update agent_credentials set expires_at = now() - interval '1 second' where state = 'previous' and device_id = $1`,
    [agent.deviceId],
  );
  await platform.sql(`select pg_notify('quartermaster', json_build_array('agent', $1::text)::text)`, [agent.deviceId]);
  let last = 0;
  for (let tries = 0; tries < 100 && last !== 401; tries += 1) last = await beat(agent, agent.token);
  t.is(last, 401, 'after ten minutes the old one has expired');
  t.is(await beat(agent, body.authToken), 200);
  const steps = (await platform.audits({ orgId, action: 'agent.token.rotate' })).map((row) => row.details.step);
  t.deepEqual(steps, ['start', 'confirm']);
});

test('a repeated request replaces the unconfirmed tokens', async (t) => {
  const { agent } = await newAgent();
  const lost = await rotate(agent);
  const kept = await rotate(agent);
  t.is((await confirm(agent, lost.body.authToken)).status, 401);
  t.is((await confirm(agent, kept.body.authToken)).status, 200);
  const repeated = await confirm(agent, kept.body.authToken);
  t.is(repeated.status, 409);
  t.is(repeated.body.error.code, 'PENDING_TOKEN_REQUIRED');
});

test('a replaced token starts no rotation', async (t) => {
  const { agent } = await newAgent();
  const { body } = await rotate(agent);
  await confirm(agent, body.authToken);
  const late = await rotate(agent);
  t.is(late.status, 409);
  t.is(late.body.error.code, 'ROTATION_CONFLICT');
});

test('after an hour without confirmation the old tokens remain and the new ones have expired', async (t) => {
  const { agent } = await newAgent();
  const { body } = await rotate(agent);
  await platform.sql(
    `update agent_credentials set expires_at = now() - interval '1 second' where state = 'pending' and device_id = $1`,
    [agent.deviceId],
  );
  const late = await confirm(agent, body.authToken);
  t.is(late.status, 409);
  t.is(late.body.error.code, 'PENDING_ROTATION_EXPIRED');
  t.is(await beat(agent, agent.token), 200);
  await platform.sql(
    `select graphile_worker.add_job('agents/clean-credentials', json_build_object('orgId', null, 'requestId', 'test', 'data', '{}'::json))`,
  );
  await platform.runJobs();
  const left = await platform.sql('select state from agent_credentials where device_id = $1', [agent.deviceId]);
  t.deepEqual(left, Array(2).fill({ state: 'current' }));
  t.is((await confirm(agent, body.authToken)).status, 401);
});

test('concurrent rotations end with one set of tokens that can be confirmed', async (t) => {
  const { agent } = await newAgent();
  const answers = await Promise.all(Array.from({ length: 8 }, () => rotate(agent)));
  t.true(answers.every(({ status }) => status === 200));
  const confirmed = await Promise.all(answers.map(({ body }) => confirm(agent, body.authToken)));
  t.is(confirmed.filter(({ status }) => status === 200).length, 1);
  const winner = answers[confirmed.findIndex(({ status }) => status === 200)]?.body;
  t.is(await beat(agentOf(platform, agent.enrolled), winner?.authToken ?? ''), 200);
});

test('an old token makes the answer to a heartbeat request a rotation, of the main agent only', async (t) => {
  const { agent } = await newAgent();
  const asked = async (token?: string) =>
    (await agent.call<{ rotateToken: boolean }>('POST', 'heartbeat', {}, token)).body.rotateToken;
  await platform.sql(`update agent_credentials set created_at = now() - interval '31 days' where device_id = $1`, [
    agent.deviceId,
  ]);
  t.true(await asked());
  t.false(await asked(agent.enrolled.watchdogAuthToken));
  const { body } = await rotate(agent);
  await confirm(agent, body.authToken);
  t.false(await asked(body.authToken));
});
