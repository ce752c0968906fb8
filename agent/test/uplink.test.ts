/** The reference agent's connection against a whole platform: commands at once while it holds, polling while it does not. */
import test from 'ava';
import type { Enrolled } from '#agent-protocol';
import { enrollAgent, enrollmentKey, joinTestPlatform, startTestPlatform, tenant, until } from '#test';
import { createClient } from '../src/link/client.ts';
import { socketOpener } from '../src/link/socket.ts';
import { runAgent } from '../src/loop.ts';
import { simulatedHandlers } from '../src/simulated/handlers.ts';
import { Mischief } from '../src/simulated/mischief.ts';
import { Rates } from '../src/simulated/rates.ts';
import { memoryJournal } from '../src/store/journal.ts';
import { memoryState, stateFrom } from '../src/store/state.ts';
import { machineHere, QUICK } from './harness.ts';

const platform = await startTestPlatform();
const polled = await joinTestPlatform(platform, { AGENT_SOCKETS_MAX: '0' });
test.after.always(async () => {
  await polled.stop();
  await platform.stop();
});

const calm = { skewSeconds: 0, duplicates: 0, malformedPerMinute: 0, oversizedPerHour: 0 };

async function agentAt(url: string, intervalSeconds: number, mischief = new Mischief(calm, new Rates())) {
  const at = await tenant(platform);
  const { deviceId, enrolled } = await enrollAgent(platform, { key: await enrollmentKey(platform, at) });
  const stop = new AbortController();
  const paths: string[] = [];
  const call = createClient(url, 5_000);
  const ended = runAgent({
    call: (method, path, options) => {
      paths.push(path.split('/').slice(3).join('/'));
      return call(method, path, options);
    },
    store: memoryState(stateFrom(url, enrolled as unknown as Enrolled)),
    journalStore: memoryJournal(),
    machine: machineHere(),
    handlers: simulatedHandlers('linux', 'bench'),
    timing: QUICK,
    signal: stop.signal,
    log: () => undefined,
    allowPower: true,
    intervalSeconds,
    openSocket: mischief.device(socketOpener(url)),
  });
  const order = async () => {
    const { body } = await platform.call<{ data: { id: string } }>('POST', `/devices/${deviceId}/commands`, {
      token: at.orgAdmin.token,
      body: { type: 'lock' },
    });
    return body.data.id;
  };
  const statusOf = async (id: string) =>
    (await platform.sql<{ status: string }>('select status from device_commands where id = $1', [id]))[0]?.status;
  const end = async () => {
    stop.abort();
    return ended;
  };
  return { at, deviceId, mischief, paths, order, statusOf, end };
}

test('while it is connected commands, starts and results need no request', async (t) => {
  const agent = await agentAt(platform.url, 3_600);
  t.teardown(agent.end);
  await until(async () => agent.mischief.connected === 1 && agent.paths.includes('hardware'));
  const id = await agent.order();
  await until(async () => (await agent.statusOf(id)) === 'completed');
  t.deepEqual(
    agent.paths.filter((path) => path.startsWith('commands')),
    [],
  );
  t.is(await agent.end(), 'stopped');
});

test('where no socket is to be had it polls, and comes to the same end', async (t) => {
  const agent = await agentAt(polled.url, 0.1);
  t.teardown(agent.end);
  const id = await agent.order();
  await until(async () => (await agent.statusOf(id)) === 'completed');
  t.true(agent.paths.includes(`commands/${id}/result`));
  t.is(agent.mischief.connected, 0);
});

test('through storms, repeated frames and nonsense each command is completed and its result stored once', async (t) => {
  const mischief = new Mischief(
    { skewSeconds: 86_400, duplicates: 0.5, malformedPerMinute: 60, oversizedPerHour: 0 },
    new Rates(),
  );
  const agent = await agentAt(platform.url, 0.2, mischief);
  t.teardown(agent.end);
  await until(async () => mischief.connected === 1);
  const ids: string[] = [];
  for (let turn = 0; turn < 4; turn++) {
    ids.push(...(await Promise.all([agent.order(), agent.order(), agent.order()])));
    mischief.storm();
  }
  await until(async () => (await Promise.all(ids.map(agent.statusOf))).every((status) => status === 'completed'));
  await agent.end();
  const audits = await platform.audits({ orgId: agent.at.orgId, action: 'agent.command.result.submit' });
  t.deepEqual(audits.map(({ details }) => String(details.commandId)).sort(), [...ids].sort());
});
