/** Processes: what the kernel says of them, and that only the right one is ended. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { ProcessQuery } from '../src/tools/contract.ts';
import {
  parseBootTime,
  parsePasswd,
  parseProcStat,
  parseProcStatus,
  statusOf,
} from '../src/tools/linux/processes/proc-stat.ts';
import { linuxProcesses } from '../src/tools/linux/processes/processes.ts';
import { temporaryFolder } from './harness.ts';
import { never, recordings } from './recordings.ts';

const { ask } = recordings([[/^getent passwd/, 'someone:x:4242:4242::/:/bin/sh\n']]);
const processes = linuxProcesses(ask);
const all: ProcessQuery = { page: 1, limit: 500, sort: 'pid', sortDir: 'asc' };

/** A process that is nobody's child here: the agent refuses to end its own. */
async function stranger(t: ExecutionContext, script = 'exec sleep 300'): Promise<number> {
  const starter = spawn('sh', ['-c', `(${script}) >/dev/null 2>&1 & echo $!`], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = (await once(starter.stdout, 'data')) as [Buffer];
  const pid = Number(String(line).trim());
  await once(starter, 'close');
  t.teardown(() => {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {}
  });
  return pid;
}

async function isGone(pid: number): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return text === undefined || parseProcStat(text)?.state === 'Z';
}

test('a name with spaces and parentheses does not shift the fields of /proc/PID/stat', (t) => {
  const line =
    '812 (tmux: (server) x) S 1 812 812 0 -1 4194560 1066 0 0 0 150 50 0 0 20 0 3 0 90061 12 34 18446744073709551615';
  t.deepEqual(parseProcStat(line), {
    name: 'tmux: (server) x',
    state: 'S',
    parentPid: 1,
    busyTicks: 200,
    threads: 3,
    startTicks: 90061,
  });
  t.is(parseProcStat(''), undefined);
  t.is(parseProcStat('no process at all'), undefined);
});

test('memory, user, state and start of the system are read from what the kernel prints', (t) => {
  t.deepEqual(parseProcStatus('Name:\tsshd\nUid:\t1000\t0\t1000\t1000\nVmRSS:\t    9216 kB\n'), {
    memoryMb: 9,
    uid: 0,
  });
  t.deepEqual(parseProcStatus('Name:\tkthreadd\nUid:\t0\t0\t0\t0\n'), { memoryMb: null, uid: 0 });
  t.deepEqual(['R', 'S', 'D', 'I', 'T', 't', 'Z', '?'].map(statusOf), [
    'running',
    'sleeping',
    'sleeping',
    'sleeping',
    'stopped',
    'stopped',
    'zombie',
    'unknown',
  ]);
  t.is(parseBootTime('cpu 1 2\nbtime 1714521600\nprocesses 3\n'), 1_714_521_600_000);
  t.is(parsePasswd('root:x:0:0:root:/root:/bin/sh\ntoor:x:0:0::/:/bin/sh\n').get(0), 'root');
});

test('a process is listed with its user, its command line and the time of its start', async (t) => {
  const before = Date.now();
  const pid = await stranger(t, 'exec sleep 301');
  const { items, total } = await processes.list({ ...all, search: 'SLEEP 301' }, never);
  t.is(total, items.length);
  const found = items.find((item) => item.pid === pid);
  t.like(found, { name: 'sleep', commandLine: 'sleep 301', status: 'sleeping', threads: 1 });
  t.true(Math.abs(Date.parse(found?.startTime ?? '') - before) < 5_000);
  const { user } = await processes.get(process.pid, never);
  t.is(user, process.getuid?.() === 0 ? 'root' : user);
});

test('lists are sorted, and pages do not overlap', async (t) => {
  const first = await processes.list({ ...all, limit: 2 }, never);
  const second = await processes.list({ ...all, limit: 2, page: 2 }, never);
  const pids = [...first.items, ...second.items].map(({ pid }) => pid);
  t.deepEqual(
    pids,
    [...new Set(pids)].sort((a, b) => a - b),
  );
  const { items } = await processes.list({ ...all, sort: 'memory', sortDir: 'desc' }, never);
  const sizes = items.map(({ memoryMb }) => memoryMb ?? 0);
  t.deepEqual(
    sizes,
    [...sizes].sort((a, b) => b - a),
  );
});

test('a busy process shows its share of all processors', async (t) => {
  const pid = await stranger(t, 'while :; do :; done');
  let seen = 0;
  for (let attempt = 0; attempt < 20 && seen === 0; attempt += 1)
    seen = (await processes.get(pid, never)).cpuPercent ?? 0;
  t.true(seen > 0 && seen <= 100, `${seen}`);
});

test('one process comes with the files it holds open', async (t) => {
  const folder = await temporaryFolder(t);
  const file = join(folder, 'held');
  const pid = await stranger(t, `exec 7>${file}; exec sleep 300`);
  let files: string[] | undefined;
  while (!files?.includes(file)) files = (await processes.get(pid, never)).openFiles;
  t.true(files.includes(file));
  await t.throwsAsync(processes.get(4_194_999, never), { code: 'NOT_FOUND' } as never);
});

test('a process that was listed is ended, and is gone when the answer comes', async (t) => {
  const pid = await stranger(t);
  const { startTime } = await processes.get(pid, never);
  await processes.kill({ pid, force: false, expectedName: 'sleep', expectedStartTime: startTime ?? '' }, never);
  t.true(await isGone(pid));
  await t.throwsAsync(processes.kill({ pid, force: false }, never), { code: 'NOT_FOUND' } as never);
});

test('a process that ignores the request ends only by force', async (t) => {
  const pid = await stranger(t, 'trap "" TERM; while :; do sleep 1; done');
  const stop = new AbortController();
  const patient = processes.kill({ pid, force: false }, stop.signal);
  // The request is on its way by the next look at the process; nobody need wait for its end.
  await processes.get(pid, never);
  stop.abort();
  await t.throwsAsync(patient);
  t.false(await isGone(pid));
  await processes.kill({ pid, force: true }, never);
  t.true(await isGone(pid));
});

test('another process with the same number is left alone', async (t) => {
  const pid = await stranger(t);
  const { startTime } = await processes.get(pid, never);
  const earlier = new Date(Date.parse(startTime ?? '') - 60_000).toISOString();
  await t.throwsAsync(processes.kill({ pid, force: true, expectedStartTime: earlier }, never), {
    code: 'CONFLICT',
  } as never);
  await t.throwsAsync(processes.kill({ pid, force: true, expectedName: 'nginx' }, never), {
    code: 'CONFLICT',
  } as never);
  t.false(await isGone(pid));
});

test('the system, the agent, its parents and its children are protected', async (t) => {
  const child = spawn('sleep', ['300']);
  t.teardown(() => child.kill('SIGKILL'));
  for (const pid of [0, 1, 4, process.pid, process.ppid, child.pid ?? 0])
    await t.throwsAsync(processes.kill({ pid, force: true }, never), { code: 'PROTECTED' } as never, `${pid}`);
});

test('threads of the kernel are protected', async (t) => {
  const { items } = await processes.list(all, never);
  const thread = items.find(({ pid, parentPid }) => pid === 2 || parentPid === 2);
  if (!thread) return t.pass('in a container none are seen');
  await t.throwsAsync(processes.kill({ pid: thread.pid, force: true }, never), { code: 'PROTECTED' } as never);
});

test('users of a directory service are asked for by their number', async (t) => {
  const folder = await temporaryFolder(t);
  const program = join(folder, 'sleeper');
  await copyFile('/bin/sleep', program);
  await chmod(folder, 0o755);
  await chmod(program, 0o755);
  if (process.getuid?.() !== 0) return t.pass('only the superuser can become another user');
  const other = spawn(program, ['300'], { uid: 4242, gid: 4242, cwd: '/' });
  t.teardown(() => other.kill('SIGKILL'));
  await once(other, 'spawn');
  t.is((await processes.get(other.pid ?? 0, never)).user, 'someone');
});
