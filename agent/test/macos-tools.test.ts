/** Processes and files of macOS, against what its programs once printed. */
import test from 'ava';
import { macosFiles } from '../src/tools/macos/files.ts';
import { macosProcesses } from '../src/tools/macos/processes.ts';
import { type Asked, PATIENT, recordedAsk, recording } from './recorded.ts';

const mac = (name: string): string => recording(`macos/${name}`);
const PAGE = { page: 1, limit: 50 };
const AGENT = 501;

function processes(kill: { code: number; stderr?: string } = { code: 0 }) {
  const { ask, calls } = recordedAsk(({ program, args }) => {
    if (program === '/bin/kill') return kill;
    if (program === '/usr/sbin/lsof') return { code: 1, stdout: mac('lsof.txt') };
    if (program === '/bin/ps') return mac('ps-threads.txt');
    return mac(args.at(-1) === 'pid=,args=' ? 'ps-args.txt' : 'ps.txt');
  });
  return { calls, tools: macosProcesses(ask, AGENT, 4) };
}

test('processes of macOS come with load, memory, user, state and UTC start', async (t) => {
  const { tools, calls } = processes();
  const { items, total } = await tools.list({ ...PAGE, sort: 'cpu', sortDir: 'desc' }, PATIENT);
  t.is(total, 8);
  t.like(items[0], {
    pid: 2210,
    name: 'Google Chrome',
    cpuPercent: 37.5,
    memoryMb: 800,
    user: 'jürgen',
    status: 'running',
  });
  t.is(items[0]?.startTime, '2026-11-01T08:30:00.000Z');
  t.is(items[0]?.commandLine?.length, 1_000);
  const states = Object.fromEntries(items.map(({ pid, status }) => [pid, status]));
  t.like(states, { 88: 'sleeping', 2300: 'stopped', 2311: 'zombie' });
  t.deepEqual(calls[0]?.args.slice(0, 4), ['LC_ALL=C', 'TZ=UTC0', '/bin/ps', '-axww']);
});

test('one process of macOS comes with threads and the files it has open', async (t) => {
  const found = await processes().tools.get(2300, PATIENT);
  t.like(found, { threads: 3, commandLine: 'vim /Users/jürgen/Briefe an Oma.txt', parentPid: 2210 });
  t.deepEqual(found.openFiles, ['/dev/ttys001', '/Users/jürgen/.Briefe an Oma.txt.swp']);
  await t.throwsAsync(processes().tools.get(99, PATIENT), { code: 'NOT_FOUND' });
});

test('a process of macOS ends by signal; the system, the agent, and strangers under the same pid do not', async (t) => {
  const { tools, calls } = processes();
  await tools.kill(
    { pid: 2300, force: false, expectedName: 'vim', expectedStartTime: '2026-11-21T08:31:00Z' },
    PATIENT,
  );
  await tools.kill({ pid: 2210, force: true }, PATIENT);
  for (const pid of [0, 1, 4, 140, AGENT, 733]) {
    await t.throwsAsync(tools.kill({ pid, force: true }, PATIENT), { code: 'PROTECTED' }, String(pid));
  }
  await t.throwsAsync(tools.kill({ pid: 2300, force: true, expectedStartTime: '2026-11-21T08:31:01Z' }, PATIENT), {
    code: 'CONFLICT',
  });
  await t.throwsAsync(tools.kill({ pid: 2300, force: true, expectedName: 'nano' }, PATIENT), { code: 'CONFLICT' });
  const kills = calls.filter(({ program }) => program === '/bin/kill').map(({ args }) => args);
  t.deepEqual(kills, [
    ['-TERM', '2300'],
    ['-KILL', '2210'],
  ]);
  const refused = (stderr: string) => processes({ code: 1, stderr }).tools.kill({ pid: 2300, force: true }, PATIENT);
  await t.throwsAsync(refused('kill: 2300: No such process\n'), { code: 'NOT_FOUND' });
  await t.throwsAsync(refused('kill: 2300: Operation not permitted\n'), { code: 'DENIED' });
});

test('files are hidden by their dot or by the flag of Finder, which is asked for once a folder', async (t) => {
  const { ask, calls } = recordedAsk((_: Asked) => mac('hidden.txt'));
  const files = macosFiles(ask, ['/var/lib/quartermaster-agent']);
  const hidden = await Promise.all(['/.vol', '/bin', '/Users', '/'].map((path) => files.isHidden(path, PATIENT)));
  t.deepEqual(hidden, [true, true, false, false]);
  t.deepEqual(
    calls.map(({ args }) => args),
    [['/', '-maxdepth', '1', '-flags', '+hidden', '-print0']],
  );
  t.deepEqual(
    (await files.roots(PATIENT)).map(({ path }) => path),
    ['/'],
  );
  for (const secret of ['/private/var/db/dslocal/nodes', '/etc/master.passwd', '/var/lib/quartermaster-agent']) {
    t.true(files.denied.includes(secret), secret);
  }
});
