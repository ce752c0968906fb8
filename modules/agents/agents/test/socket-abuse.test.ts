/** Agents that send false, too many or malformed frames: nothing changes, and the frames are counted or audited. */
import test from 'ava';
import { enrollAgent, enrollmentKey, startTestPlatform, tenant } from '#test';
import { openPeer } from './socket-client.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

const newAgent = async () => {
  const at = await tenant(platform);
  return { ...at, agent: await enrollAgent(platform, { key: await enrollmentKey(platform, at) }) };
};
type New = Awaited<ReturnType<typeof newAgent>>;
const peerOf = async ({ agent }: New) => {
  const peer = await openPeer(platform.url, agent.agentId, agent.token);
  await peer.next('connected');
  return peer;
};
/** A command that is never delivered: it is for the other role, so the main agent does not claim it. */
const order = async ({ agent, orgId }: New, role = 'watchdog') => {
  const [row] = await platform.sql<{ id: string }>(
    `insert into device_commands (device_id, org_id, submitted_org_id, type, source, target_role, deliver_by,
       execution_timeout_seconds)
     values ($1, $2, $2, 'lock', 'user', $3, now() + interval '1 day', 300) returning id`,
    [agent.deviceId, orgId, role],
  );
  return row?.id ?? '';
};
const snapshot = async () => JSON.stringify(await platform.sql('select * from device_commands order by id'));

test.serial(
  'starts, progress and results of other devices and roles, or of commands never delivered, change nothing',
  async (t) => {
    const [liar, victim] = await Promise.all([newAgent(), newAgent()]);
    const [theirs, notMine] = await Promise.all([order(victim), order(liar)]);
    const unheardOf = '00000000-0000-4000-8000-00000000dead';
    const before = await snapshot();
    const peer = await peerOf(liar);
    for (const commandId of [theirs, notMine, unheardOf]) {
      peer.send({ frame: 'ack', commandId });
      t.like(await peer.next('ack_answer', (one) => one.commandId === commandId), { begun: 'unknown' });
      peer.send({ frame: 'progress', commandId, percent: 50 });
      peer.send({ frame: 'command_result', commandId, status: 'completed', exitCode: 0 });
      const answer = await peer.next('result_ack', (one) => one.commandId === commandId);
      t.false(answer.success);
      t.true([403, 404].includes(answer.status), JSON.stringify(answer));
    }
    t.is(await snapshot(), before);
    const denied = await platform.audits({ orgId: liar.orgId, action: 'agent.command.result.submit' });
    t.deepEqual(
      denied.map(({ result, details }) => ({ result, commandId: details.commandId })),
      [theirs, unheardOf].map((commandId) => ({ result: 'denied', commandId })),
    );
    t.is((await platform.audits({ orgId: liar.orgId, action: 'agent.frame.refuse' })).length, 1);
    t.deepEqual(await platform.audits({ orgId: victim.orgId, action: 'agent.command.result.submit' }), []);
    await peer.close();
  },
);

test.serial('a result of a waiting command that was never delivered is denied over HTTP as well', async (t) => {
  const at = await newAgent();
  await platform.sql(`update devices set lifecycle = 'active' where id = $1`, [at.agent.deviceId]);
  const id = await order(at, 'agent');
  const { status } = await at.agent.result(id);
  t.is(status, 200, 'the agent stops sending it');
  const [row] = await platform.sql('select status, attempt from device_commands where id = $1', [id]);
  t.like(row, { status: 'pending', attempt: 0 });
  const audits = await platform.audits({ orgId: at.orgId, action: 'agent.command.result.submit' });
  t.deepEqual(
    audits.map(({ result }) => result),
    ['denied'],
  );
});

test.serial('malformed frames are counted, audited once, and in the end close the connection', async (t) => {
  const at = await newAgent();
  const peer = await peerOf(at);
  const before = await snapshot();
  const deep = `{"frame":"heartbeat","a":${'['.repeat(60)}${']'.repeat(60)}}`;
  const bad = ['', '{', 'null', '[]', '7', '{"frame":7}', '{"heartbeat":{}}', deep, '"frame"', '\u0000'];
  for (const text of bad) peer.send(text);
  t.deepEqual(await peer.closed, { code: 4400, reason: 'malformed' });
  t.is(peer.frames.filter(({ frame }) => frame === 'error').length, bad.length);
  t.is(await snapshot(), before);
  t.is((await platform.audits({ orgId: at.orgId, action: 'agent.frame.refuse' })).length, 1);
  const metrics = await platform.platform.metrics.text();
  t.regex(metrics, /event="refused_malformed"\} 10/);
});

test.serial('unknown frames and invalid fields change nothing and leave the connection open', async (t) => {
  const at = await newAgent();
  const peer = await peerOf(at);
  const before = await snapshot();
  peer.send({ frame: 'constructor' });
  peer.send({ frame: 'terminal_output', sessionId: 'x', data: 'y' });
  peer.send(Buffer.from([1, 2, 3]));
  peer.send({ frame: 'ack', commandId: "' or 1=1" });
  t.is((await peer.next('error')).code, 'VALIDATION_ERROR');
  peer.send({ frame: 'command_result', commandId: '00000000-0000-4000-8000-00000000dead', status: 'superb' });
  t.like(await peer.next('result_ack'), { success: false, status: 400 });
  peer.send({ frame: 'update_status' });
  peer.send({ frame: 'heartbeat', status: 'ok' });
  await peer.next('heartbeat_ack');
  t.is(await snapshot(), before);
  await peer.close();
});

test.serial('an oversized frame closes the connection and changes nothing', async (t) => {
  const at = await newAgent();
  const peer = await peerOf(at);
  peer.send({ frame: 'heartbeat', lastUser: 'x'.repeat(17 * 1024 * 1024) });
  t.is((await peer.closed).code, 1009);
});

test.serial('an agent that exceeds its limit of frames is disconnected', async (t) => {
  const at = await newAgent();
  const peer = await peerOf(at);
  for (let n = 0; n < 700; n++) peer.send({ frame: 'nonsense' });
  t.deepEqual(await peer.closed, { code: 4029, reason: 'rate' });
});

test.serial('a result with streams above 5 MB is truncated and stored', async (t) => {
  const at = await newAgent();
  const peer = await peerOf(at);
  const id = await order(at, 'agent');
  await at.agent.commands();
  const stdout = 'a'.repeat(5_000_000);
  peer.send({ frame: 'command_result', commandId: id, status: 'completed', exitCode: 0, stdout, stderr: stdout });
  t.like(await peer.next('result_ack'), { success: true });
  const [row] = await platform.sql<{ n: number; truncated: boolean }>(
    'select length(stdout)::int as n, truncated from device_command_output where command_id = $1',
    [id],
  );
  t.true(row?.truncated);
  t.true((row?.n ?? 0) < 1_100_000);
  await peer.close();
});
