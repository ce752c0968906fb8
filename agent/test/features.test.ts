/** What the organization has switched off the agent leaves alone, and says so in the result of a command. */
import test from 'ava';
import type { Handler } from '../src/commands/contract.ts';
import { HANDLERS } from '../src/commands/handlers.ts';
import { bench, QUICK } from './harness.ts';

const OFF = { agent_logs: false, updates: false, remote_tools: false };

const idOf = (round: string, type: string) => `${round}-${type.replaceAll('_', '-')}`;

test('commands of a feature are refused while it is off, and carried out once it is on', async (t) => {
  const { server, run } = await bench(t);
  const done: Handler = async () => ({ status: 'completed', result: 'done' });
  const handlers = new Map([...HANDLERS, ['list_processes', done], ['update_agent', done]]);
  const types = { list_processes: 'remote_tools', update_agent: 'updates', set_log_level: 'agent_logs' };
  const order = (round: string) => {
    for (const type of [...Object.keys(types), 'none'])
      server.queue.push({ id: idOf(round, type), type, payload: { level: 'info' } });
  };
  server.heartbeat = { configUpdate: { features: OFF }, configVersion: 'off' };
  order('off');
  run({ handlers });
  for (const [type, feature] of Object.entries(types)) {
    const error = `${type} is refused: ${feature} is switched off for this organization`;
    t.like(await server.result(idOf('off', type)), { status: 'failed', error });
  }
  t.is((await server.result(idOf('off', 'none'))).error, 'unknown command');
  server.heartbeat = { configUpdate: { features: { remote_tools: true } }, configVersion: 'on' };
  order('on');
  for (const type of Object.keys(types)) t.is((await server.result(idOf('on', type))).status, 'completed', type);
});

test('offers of updates are left alone while updates are off', async (t) => {
  const { server, run } = await bench(t);
  const offered: unknown[] = [];
  const updates = () => ({
    heard: async () => undefined,
    ended: async () => undefined,
    offered: offered.push.bind(offered),
  });
  const upgradeTo = { version: '9.9.9', url: '/x', sha256: '0'.repeat(64) };
  server.heartbeat = { configUpdate: { features: OFF }, configVersion: 'off', upgradeTo };
  run({ updates: updates as never });
  await server.until(() => server.calls('/heartbeat').length > 3);
  t.deepEqual(offered, []);
  server.heartbeat = { configUpdate: { features: {} }, configVersion: 'on', upgradeTo };
  await server.until(() => offered.length > 0);
  t.deepEqual(offered[0], upgradeTo);
});

test('no lines are sent while the logs of agents are off, and those of that time not afterwards', async (t) => {
  const { server, run } = await bench(t);
  const handlers = new Map(HANDLERS);
  server.heartbeat = { configUpdate: { features: OFF }, configVersion: 'off' };
  const { stop } = run({
    handlers,
    timing: { ...QUICK, lines: 1 },
  });
  server.before = ({ path }) => (path.endsWith('/hardware') ? { status: 503 } : undefined);
  await server.until(() => server.calls('/hardware').length > 0 && server.calls('/heartbeat').length > 10);
  t.is(server.calls('/logs').length, 0);
  server.before = () => undefined;
  server.heartbeat = { configUpdate: { features: {} }, configVersion: 'on' };
  const before = server.calls('/heartbeat').length;
  await server.until(() => server.calls('/heartbeat').length > before + 10);
  await stop();
  t.is(server.calls('/logs').length, 0);
});
