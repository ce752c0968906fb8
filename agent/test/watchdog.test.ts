/** The watchdog: keeps an agent running that nobody else keeps, and tells the server how that goes. */
import { access, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { WatchdogHeartbeat } from '#agent-protocol';
import { createClient } from '../src/link/client.ts';
import { diskJournal } from '../src/store/journal.ts';
import { readPulse } from '../src/store/pulse.ts';
import { fileState } from '../src/store/state.ts';
import { fileRecord } from '../src/update/record.ts';
import { GONE, RESTART } from '../src/watchdog/exits.ts';
import { Guard } from '../src/watchdog/guard.ts';
import { childKeeper, isAlive, type Keeper } from '../src/watchdog/keeper.ts';
import { Restarts } from '../src/watchdog/restarts.ts';
import { runWatchdog } from '../src/watchdog/watchdog.ts';
import { bench, machineHere, QUICK } from './harness.ts';

const TIMES = { ...QUICK, watch: 20, hang: 1_500, patience: 300, unheard: 1_000, stable: 60_000, farewell: 2_000 };

/** A stand-in for the agent: counts its starts, and does what its lines say. `$n` is which start it is. */
const agentOf = (lines: string, heard = '"2026-01-01T00:00:00.000Z"', version = '1.0.0') => `#!/bin/sh
cd "$(dirname "$0")"
echo start >>starts
n=$(grep -c start starts)
began=$(date -u +%Y-%m-%dT%H:%M:%S).\${n}00Z
pulse() {
  echo '{"pid":'$$',"version":"${version}","startedAt":"'$began'","at":"'$(date -u +%Y-%m-%dT%H:%M:%SZ)'","heardAt":${heard},"stopped":false}' >pulse.tmp
  mv pulse.tmp state-pulse.json
}
live() {
  trap 'exit 0' TERM
  while [ -f state.json ]; do pulse; sleep 0.2; done
}
${lines}
`;

async function setup(
  t: ExecutionContext,
  lines: string,
  { keeper, heard, version }: { keeper?: Keeper; heard?: string; version?: string } = {},
) {
  const at = await bench(t);
  const { server, folder, stateFile } = at;
  const program = join(folder, 'agent');
  await writeFile(program, agentOf(lines, heard, version), { mode: 0o755 });
  const record = fileRecord(join(folder, 'state-update.json'));
  const stop = new AbortController();
  const pulse = () => readPulse(join(folder, 'state-pulse.json'));
  const begin = () =>
    runWatchdog({
      ...{
        call: createClient(server.url, 5_000),
        store: fileState(stateFile),
        version: '1.0.0',
        machine: machineHere(),
      },
      ...{ keeper: keeper ?? childKeeper(program, []), pulseFile: join(folder, 'state-pulse.json') },
      ...{ journalStore: diskJournal(join(folder, 'watchdog-commands')), restartsFile: join(folder, 'restarts.json') },
      ...{
        record,
        timing: TIMES,
        signal: stop.signal,
        log: (line: string) => at.lines.push(line),
        intervalSeconds: 0.05,
      },
    });
  const ended = begin();
  t.teardown(async () => {
    stop.abort();
    await ended;
  });
  const beats = () => server.calls('/heartbeat').map(({ body }) => body as unknown as WatchdogHeartbeat);
  return {
    ...{ server, folder, stateFile, program, record, pulse, ended, beats, lines: at.lines },
    stop: () => {
      stop.abort();
      return ended;
    },
    starts: async () => (await readFile(join(folder, 'starts'), 'utf8').catch(() => '')).split('\n').length - 1,
    /** The first beat that is so. */
    beat: (is: (beat: WatchdogHeartbeat) => boolean) => server.until(() => beats().find(is)),
  };
}

test('it starts the agent, beats with its own token, and takes the agent along when it is stopped', async (t) => {
  const { server, beat, pulse, stop, starts } = await setup(t, 'live');
  const seen = await beat(({ watchdogState }) => watchdogState === 'monitoring');
  t.like(seen, {
    role: 'watchdog',
    watchdogVersion: '1.0.0',
    mainAgentRestartCount24h: 0,
    flapDetected: false,
  });
  t.is(server.calls('/heartbeat')[0]?.headers.authorization, 'Bearer old-watchdog');
  t.is(await stop(), 'stopped');
  const mark = await pulse();
  t.false(isAlive(mark?.pid ?? 0));
  t.is(await starts(), 1);
});

test('an agent that dies is started again, and the server hears how often', async (t) => {
  const { beat, starts } = await setup(t, '[ $n -ge 3 ] || exit 1\nlive');
  const seen = await beat(({ watchdogState }) => watchdogState === 'monitoring');
  t.is(seen.mainAgentRestartCount24h, 2);
  t.is(await starts(), 3);
});

test('an agent that hangs is ended and started again', async (t) => {
  const { beat, starts } = await setup(t, 'pulse\n[ $n -ge 2 ] || exec sleep 600\nlive');
  await beat(
    ({ watchdogState, mainAgentRestartCount24h }) => watchdogState === 'monitoring' && mainAgentRestartCount24h === 1,
  );
  t.is(await starts(), 2);
});

test('an agent that does not come up makes the watchdog speak for the device', async (t) => {
  const { beat } = await setup(t, 'exit 1');
  await beat(({ watchdogState }) => watchdogState === 'failover');
  t.true((await beat(({ flapDetected }) => flapDetected)).mainAgentRestartCount24h >= 5);
});

test('restart_agent is done when the agent gives signs of life again', async (t) => {
  const { server, beat, pulse, starts } = await setup(t, 'live');
  await beat(({ watchdogState }) => watchdogState === 'monitoring');
  const before = await pulse();
  server.queue.push({ id: 'r-1', type: 'restart_agent', payload: {} });
  t.like(await server.result('r-1'), { status: 'completed', result: { restarted: true } });
  t.false(isAlive(before?.pid ?? 0));
  t.true(isAlive((await pulse())?.pid ?? 0));
  t.is(await starts(), 2);
  server.queue.push({ id: 'r-2', type: 'script', payload: {} });
  t.like(await server.result('r-2'), { status: 'failed', error: 'unknown command' });
});

test('an agent that asked for its restart has not failed', async (t) => {
  const { beat, starts } = await setup(t, `[ $n -ge 2 ] || exit ${RESTART}\nlive`);
  const seen = await beat(({ watchdogState }) => watchdogState === 'monitoring');
  t.is(seen.mainAgentRestartCount24h, 0);
  t.is(await starts(), 2);
});

test('an agent whose device is gone is left alone', async (t) => {
  const { beat, beats, server, starts } = await setup(t, `exit ${GONE}`);
  await beat(({ watchdogState }) => watchdogState === 'standby');
  const count = beats().length;
  await server.until(() => beats().length > count + 5);
  t.is(await starts(), 1);
});

test('an agent that removed itself ends its watchdog', async (t) => {
  const { beat, ended, stateFile, starts } = await setup(t, 'live');
  await beat(({ watchdogState }) => watchdogState === 'monitoring');
  await rm(stateFile);
  t.is(await ended, 'uninstalled');
  t.is(await starts(), 1);
});

test('an agent that removes itself while it is looked at is not started again', async (t) => {
  const { folder } = await bench(t);
  const answers = [true, false];
  let starts = 0;
  const guard = new Guard({
    keeper: {
      ...{ alone: true, pid: undefined, ending: { code: 0 }, stop: async () => undefined },
      start: async () => {
        starts += 1;
      },
    },
    restarts: await Restarts.open(join(folder, 'restarts.json')),
    pulse: async () => undefined,
    enrolled: async () => answers.shift() ?? false,
    ...{ record: fileRecord(join(folder, 'record.json')), timing: TIMES, log: () => undefined },
  });
  t.false(await guard.watch(new AbortController().signal));
  t.is(starts, 0);
});

test('a state that cannot be read for a while does not end the watch', async (t) => {
  const { beat, ended, lines, server, stateFile } = await setup(t, 'live');
  await beat(({ watchdogState }) => watchdogState === 'monitoring');
  await writeFile(stateFile, '{');
  await server.until(() => lines.some((line) => line.startsWith('The agent was not kept')));
  await rm(stateFile);
  t.is(await ended, 'uninstalled');
});

test('the programs that it keeps outlive it when it makes way for a newer watchdog, which takes them over', async (t) => {
  const first = await setup(t, 'live');
  await first.beat(({ watchdogState }) => watchdogState === 'monitoring');
  const keeper = childKeeper(first.program, []);
  const stop = new AbortController();
  const before = first.beats().length;
  const second = runWatchdog({
    ...{ call: createClient(first.server.url, 5_000), store: fileState(first.stateFile), version: '1.1.0', keeper },
    ...{ machine: machineHere(), pulseFile: join(first.folder, 'state-pulse.json') },
    ...{ journalStore: diskJournal(join(first.folder, 'other')), restartsFile: join(first.folder, 'restarts.json') },
    ...{ record: first.record, timing: TIMES, signal: stop.signal, log: () => undefined, intervalSeconds: 0.05 },
  });
  await first.server.until(() =>
    first
      .beats()
      .slice(before)
      .find((one) => one.watchdogVersion === '1.1.0' && one.watchdogState === 'monitoring'),
  );
  t.is(keeper.pid, undefined, 'it started none of its own');
  stop.abort();
  await second;
  t.is(await first.starts(), 1);
});

test('an update that never begins is taken back after three starts, and the server hears of it', async (t) => {
  const { server, folder, program, record, beat } = await setup(t, '[ -f ready ] || live\nexit 1');
  await beat(({ watchdogState }) => watchdogState === 'monitoring');
  // As the updater leaves it: the old program beside the new one.
  await writeFile(`${program}.previous`, agentOf('live'), { mode: 0o755 });
  await record.write({ from: '1.0.0', to: '2.0.0', program, starts: 0, at: new Date().toISOString() });
  await writeFile(join(folder, 'ready'), '');
  server.queue.push({ id: 'r-3', type: 'restart_agent', payload: {} });
  const told = await server.until(() => server.calls('/update-status')[0]);
  t.like(told.body, { component: 'agent', targetVersion: '2.0.0', state: 'rolled_back', reason: 'start_failed' });
  t.is(await readFile(program, 'utf8'), agentOf('live'));
  t.true((await record.read())?.rolledBack);
  await t.throwsAsync(access(`${program}.previous`));
});

test('an update that lives and reaches nobody is taken back while the watchdog is heard', async (t) => {
  const { server, program, record } = await setup(t, 'live', { heard: 'null', version: '2.0.0' });
  await writeFile(`${program}.previous`, agentOf('live'), { mode: 0o755 });
  await record.write({ from: '1.0.0', to: '2.0.0', program, starts: 1, at: new Date().toISOString() });
  const told = await server.until(() => server.calls('/update-status')[0]);
  t.like(told.body, { targetVersion: '2.0.0', state: 'rolled_back' });
  t.is(await readFile(program, 'utf8'), agentOf('live'));
});

test('beside a service manager it starts only what stays dead, and nothing that was stopped on purpose', async (t) => {
  let started = 0;
  const keeper: Keeper = {
    ...{ alone: false, pid: undefined, ending: null },
    start: async () => {
      started += 1;
    },
    stop: async () => undefined,
  };
  const { folder, server, beat, beats } = await setup(t, '', { keeper });
  const begin = performance.now();
  await server.until(() => started > 0 || undefined);
  t.true(performance.now() - begin >= TIMES.patience, 'it gave the service manager its time');
  const now = new Date().toISOString();
  const mark = { pid: process.pid, version: '1.0.0', startedAt: now, at: now, heardAt: now, stopped: true };
  await writeFile(join(folder, 'state-pulse.json'), JSON.stringify(mark));
  await beat(({ watchdogState }) => watchdogState === 'standby');
  const [count, before] = [beats().length, started];
  await server.until(() => beats().length > count + 15);
  t.is(started, before);
});
