/** Waiting for the end of a command: what ends the wait, and that it leaves no listeners. */
import test from 'ava';
import type { Context } from '#core';
import { EVERYWHERE, NOBODY } from '#core';
import { runUnitOfWork } from '#core/work';
import { enrollAgent, enrollmentKey, joinTestPlatform, startTestPlatform, tenant } from '#test';
import { CommandWaits } from '../services/command-waits.ts';
import { openPeer } from './socket-client.ts';

const platform = await startTestPlatform();
const other = await joinTestPlatform(platform);
test.after.always(async () => {
  await other.stop();
  await platform.stop();
});

const asAnyone = <T>(run: (ctx: Context) => Promise<T>): Promise<T> => {
  const { work, log } = platform.platform.tasks;
  return runUnitOfWork(work, { actor: NOBODY, scope: EVERYWHERE, requestId: 'test', log, role: 'platform' }, run);
};

test('a wait ends with its command, with its signal, when notices may have been lost, and at its timeout', async (t) => {
  const waits = new CommandWaits();
  const stop = new AbortController();
  const ended: string[] = [];
  const wait = (name: string, id: string, ms: number, signal?: AbortSignal) =>
    waits.wait(id, ms, signal).then(() => ended.push(name));
  const first = [wait('a', '1', 60_000), wait('a too', '1', 60_000)];
  const second = wait('b', '2', 60_000, stop.signal);
  const third = wait('c', '3', 5);
  await third;
  t.deepEqual(ended, ['c']);
  waits.done('1');
  await Promise.all(first);
  t.deepEqual(ended, ['c', 'a', 'a too']);
  stop.abort();
  await second;
  await wait('late', '4', 60_000, stop.signal);
  const fourth = wait('d', '5', 60_000);
  waits.all();
  await fourth;
  t.deepEqual(ended.slice(3), ['b', 'late', 'd']);
  t.is(waits.size, 0);
});

test('the end of a command also ends waits in another process than the one its agent is connected to', async (t) => {
  const at = await tenant(platform);
  const agent = await enrollAgent(platform, { key: await enrollmentKey(platform, at) });
  const connected = () => asAnyone((ctx) => ctx.use('agents').isConnected(agent.deviceId));
  t.false(await connected());
  const peer = await openPeer(other.url, agent.agentId, agent.token);
  await peer.next('connected');
  t.true(await connected());
  const { body } = await platform.call<{ data: { id: string } }>('POST', `/devices/${agent.deviceId}/commands`, {
    token: at.orgAdmin.token,
    body: { type: 'lock' },
  });
  const { id } = body.data;
  await peer.next('command');
  const begin = performance.now();
  const waiting = asAnyone(async (ctx) => ctx.use('agents').awaitCommand(id, 50_000));
  peer.send({ frame: 'ack', commandId: id });
  peer.send({ frame: 'command_result', commandId: id, status: 'completed', exitCode: 0 });
  await waiting;
  t.true(performance.now() - begin < 40_000);
  const [row] = await platform.sql('select status from device_commands where id = $1', [id]);
  t.deepEqual(row, { status: 'completed' });
  await peer.close();
});
