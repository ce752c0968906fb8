/** Services and scheduled tasks of macOS, against what launchctl and plutil once printed. */
import test from 'ava';
import type { Answer } from '../src/process/ask.ts';
import { launchctlError, parseDisabled, parsePrint, statusOf } from '../src/tools/macos/launchctl.ts';
import { launchd } from '../src/tools/macos/launchd.ts';
import { macosServices } from '../src/tools/macos/services.ts';
import { macosTasks } from '../src/tools/macos/tasks.ts';
import { PATIENT, recordedAsk, recording } from './recorded.ts';

const mac = (name: string): string => recording(`macos/${name}`);
const PAGE = { page: 1, limit: 50 };
const GONE = { code: 113, stderr: 'Could not find service "x" in domain for system\n' };
const NGINX = mac('print-nginx-running.txt');

type Answers = Record<string, (string | Partial<Answer>)[]>;

/** Answers in turn by the words of a call; those of lists stay the same. */
function system(turns: Answers = {}, uid = 0) {
  const { ask, calls } = recordedAsk(({ program, args }) => {
    const [verb = ''] = args;
    const words = [program.split('/').at(-1), ...args].join(' ');
    const turn = Object.entries(turns).find(([start]) => words.startsWith(start));
    if (turn) return turn[1].length > 1 ? turn[1].shift() : turn[1][0];
    if (words.startsWith('find')) return mac('definitions.txt');
    if (words.startsWith('grep')) return mac('scheduled.txt');
    if (words.startsWith('log')) return mac('log-launchd.ndjson');
    if (verb === 'list') return mac('launchctl-list.txt');
    if (verb === 'print-disabled') return mac('launchctl-print-disabled.txt');
    if (verb === 'print') {
      if (words.endsWith('nginx')) return NGINX;
      if (words.endsWith('backup')) return mac('print-waiting.txt');
      return words.endsWith('quartermaster.agent') ? mac('print-agent.txt') : GONE;
    }
    if (words.startsWith('plutil')) {
      if (words.endsWith('backup.plist')) return mac('plist-backup.json');
      if (words.endsWith('periodic-daily.plist')) return mac('plist-periodic.json');
      if (words.endsWith('idle.plist')) return mac('plist-idle.json');
      return { code: 1, stdout: mac('plutil-fault.txt') };
    }
    return undefined;
  });
  const changes = (): string[] =>
    calls
      .filter(({ program, args }) => program === '/bin/launchctl' && !/^(list|print)/.test(args[0] ?? ''))
      .map(({ args }) => args.join(' '));
  const jobs = launchd(ask, uid);
  return { services: macosServices(ask, jobs, [501]), tasks: macosTasks(ask, jobs), calls, changes };
}

test('launchctl tells of a job only one tab deep, and older systems write true for disabled', (t) => {
  const printed = parsePrint(NGINX);
  t.like(printed, { state: 'running', pid: 1203, program: '/usr/local/bin/nginx', username: 'root' });
  t.is(statusOf(printed), 'running');
  t.is(statusOf(parsePrint(mac('print-nginx-scheduled.txt'))), 'starting');
  t.is(statusOf(parsePrint(mac('print-waiting.txt'))), 'stopped');
  t.deepEqual([...parseDisabled(mac('launchctl-print-disabled.txt'))], ['com.apple.ftpd', 'com.example.old']);
});

test('services of macOS are those that are loaded and those that a file defines', async (t) => {
  const { services } = system();
  const { items, total } = await services.list(PAGE, PATIENT);
  t.is(total, 8);
  const found = Object.fromEntries(items.map(({ name, status, startType }) => [name, `${status} ${startType}`]));
  t.like(found, {
    'org.nginx.nginx': 'running auto',
    'com.example.backup': 'stopped manual',
    'com.apple.ftpd': 'stopped disabled',
    'com.example.idle': 'stopped null',
    'quartermaster.agent': 'running auto',
  });
  t.deepEqual(
    (await services.list({ ...PAGE, status: 'running', search: 'NGINX' }, PATIENT)).items.map(
      ({ name, path, account }) => [name, path, account],
    ),
    [['org.nginx.nginx', '/usr/local/bin/nginx', 'root']],
  );
  await t.throwsAsync(services.get('com.example.absent', PATIENT), { code: 'NOT_FOUND' });
  for (const name of ['-x', 'system/x', 'a"b', ''])
    await t.throwsAsync(services.get(name, PATIENT), { code: 'INVALID' });
});

test('only the page that is shown is asked about in detail', async (t) => {
  const { services, calls } = system();
  await services.list({ page: 1, limit: 2 }, PATIENT);
  t.true(calls.filter(({ args }) => args[0] === 'print').length <= 2);
});

test('a job that waits is started, one that is not loaded is loaded first, one that runs gets a note', async (t) => {
  const loaded = system({ 'launchctl kickstart': [''] });
  t.like(await loaded.services.change('com.example.backup', 'start', PATIENT), { status: 'stopped' });
  t.deepEqual(loaded.changes(), ['kickstart system/com.example.backup']);
  const unloaded = system({
    'launchctl print system/com.example.idle': [GONE, GONE, NGINX],
    'launchctl bootstrap': [''],
    'launchctl kickstart': [''],
  });
  t.like(await unloaded.services.change('com.example.idle', 'start', PATIENT), { status: 'running' });
  t.deepEqual(unloaded.changes(), [
    'bootstrap system /Library/LaunchDaemons/com.example.idle.plist',
    'kickstart system/com.example.idle',
  ]);
  t.like(await system().services.change('org.nginx.nginx', 'start', PATIENT), { note: 'The service ran already' });
  await t.throwsAsync(system().services.change('com.apple.ftpd', 'start', PATIENT), { code: 'CONFLICT' });
});

test('a job is stopped by unloading it, and that it is gone is awaited', async (t) => {
  const { services, changes, calls } = system({
    'launchctl bootout': [{ code: 36, stderr: 'Boot-out failed: 36: Operation now in progress\n' }],
    'launchctl print system/org.nginx.nginx': [NGINX, NGINX, NGINX, GONE],
  });
  t.deepEqual(await services.change('org.nginx.nginx', 'stop', PATIENT), {
    name: 'org.nginx.nginx',
    status: 'stopped',
  });
  t.deepEqual(changes(), ['bootout system/org.nginx.nginx']);
  t.deepEqual(calls.at(-1)?.args, ['print', 'system/org.nginx.nginx']);
  t.like(await system().services.change('com.example.idle', 'stop', PATIENT), {
    note: 'The service was stopped already',
  });
});

test('a restart ends what runs, and waits for what comes after', async (t) => {
  const { services, changes } = system({
    'launchctl kickstart': [''],
    'launchctl print system/org.nginx.nginx': [NGINX, NGINX, NGINX, mac('print-nginx-scheduled.txt'), NGINX],
  });
  t.deepEqual(await services.change('org.nginx.nginx', 'restart', PATIENT), {
    name: 'org.nginx.nginx',
    status: 'running',
  });
  t.deepEqual(changes(), ['kickstart -k system/org.nginx.nginx']);
});

test('the job of the agent is neither stopped nor restarted', async (t) => {
  const { services, changes } = system();
  await t.throwsAsync(services.change('quartermaster.agent', 'stop', PATIENT), { code: 'PROTECTED' });
  await t.throwsAsync(services.change('quartermaster.agent', 'restart', PATIENT), { code: 'PROTECTED' });
  t.deepEqual(changes(), []);
});

test('what launchctl refuses becomes a code', (t) => {
  const codeOf = (code: number, stderr = '') => (launchctlError('x', code, stderr) as { code?: string }).code;
  t.is(codeOf(113, GONE.stderr), 'NOT_FOUND');
  t.is(codeOf(3, 'Boot-out failed: 3: No such process\n'), 'NOT_FOUND');
  t.is(codeOf(119, 'Bootstrap failed: 119: Service is disabled\n'), 'CONFLICT');
  t.is(
    codeOf(150, 'Boot-out failed: 150: Operation not permitted while System Integrity Protection is engaged\n'),
    'DENIED',
  );
  t.is(codeOf(1, 'Could not kickstart service "x": 1: Operation not permitted\n'), 'DENIED');
  t.is(codeOf(5, 'Bootstrap failed: 5: Input/output error\n'), undefined);
});

test('a job whose definition launchd does not take is reported as such', async (t) => {
  const { services } = system({
    'launchctl bootstrap': [{ code: 5, stderr: 'Bootstrap failed: 5: Input/output error\n' }],
  });
  await t.throwsAsync(services.change('com.example.idle', 'start', PATIENT), {
    message: /did not take the definition/,
  });
});

test('without root the jobs of the own session are managed', async (t) => {
  const { services, changes, calls } = system(
    { 'launchctl kickstart': [''], 'launchctl print gui/502/x': [mac('print-waiting.txt')] },
    502,
  );
  await services.change('x', 'start', PATIENT);
  t.deepEqual(changes(), ['kickstart gui/502/x']);
  t.deepEqual(calls[0]?.args, ['print-disabled', 'gui/502']);
});

test('tasks of macOS are the jobs that a clock or a calendar starts', async (t) => {
  const { tasks, calls } = system();
  const { items, total } = await tasks.list({ ...PAGE, folder: '\\' }, PATIENT);
  t.is(total, 2, 'a definition that cannot be read is left out');
  t.deepEqual(items[0], {
    path: '/Library/LaunchDaemons/com.example.backup.plist',
    name: 'com.example.backup',
    folder: '/Library/LaunchDaemons',
    state: 'ready',
    lastRunTime: null,
    lastRunResult: '-9',
    nextRunTime: null,
    triggers: [
      { type: 'calendar', schedule: 'daily at 03:05', enabled: true },
      { type: 'calendar', schedule: 'on Mon at 12:00', enabled: true },
      { type: 'calendar', schedule: 'on day 24 in month 12 at 00:*', enabled: true },
      { type: 'load', schedule: 'when loaded', enabled: true },
    ],
    actions: [{ type: 'exec', command: '/usr/local/bin/backup', arguments: '--all /Users/jürgen' }],
    author: null,
    description: null,
  });
  t.like(items[1], { state: 'disabled', triggers: [{ schedule: 'every 90m' }] });
  t.deepEqual(calls.find(({ program }) => program === '/usr/bin/grep')?.args, [
    '-rlaE',
    'StartInterval|StartCalendarInterval',
    '/Library/LaunchDaemons',
    '/System/Library/LaunchDaemons',
  ]);
  const system2 = await tasks.list({ ...PAGE, folder: '/System/Library/LaunchDaemons/' }, PATIENT);
  t.deepEqual(
    system2.items.map(({ name }) => name),
    ['com.apple.periodic-daily'],
  );
});

test('a task of macOS is named by its definition, and nothing else is read', async (t) => {
  const { tasks, calls } = system();
  for (const path of [
    '/etc/passwd',
    '/Library/LaunchDaemons/../../etc/x.plist',
    'x.plist',
    '/Library/LaunchDaemons/a/b.plist',
  ]) {
    await t.throwsAsync(tasks.get(path, PATIENT), { code: 'NOT_FOUND' }, path);
  }
  t.is(calls.length, 0);
  await t.throwsAsync(
    tasks.get('/Library/LaunchDaemons/com.example.idle.plist', PATIENT),
    { code: 'NOT_FOUND' },
    'it has no schedule',
  );
});

test('a task of macOS is run, enabled and disabled, and repeats are noted', async (t) => {
  const BACKUP = '/Library/LaunchDaemons/com.example.backup.plist';
  const PERIODIC = '/System/Library/LaunchDaemons/com.apple.periodic-daily.plist';
  const run = system({ 'launchctl kickstart': [''] });
  t.deepEqual(await run.tasks.change(BACKUP, 'run', PATIENT), {});
  t.deepEqual(run.changes(), ['kickstart system/com.example.backup']);
  t.deepEqual(await system().tasks.change(BACKUP, 'enable', PATIENT), { note: 'The task was enabled already' });
  const on = system({ 'launchctl enable': [''], 'launchctl bootstrap': [''] });
  await on.tasks.change(PERIODIC, 'enable', PATIENT);
  t.deepEqual(on.changes(), ['enable system/com.apple.periodic-daily', `bootstrap system ${PERIODIC}`]);
  const off = system({
    'launchctl disable': [''],
    'launchctl bootout': [''],
    'launchctl print system/com.example.backup': [mac('print-waiting.txt'), GONE],
  });
  await off.tasks.change(BACKUP, 'disable', PATIENT);
  t.deepEqual(off.changes(), ['disable system/com.example.backup', 'bootout system/com.example.backup']);
});

test('the history of a task of macOS is what launchd logged about exactly this job', async (t) => {
  const { tasks, calls } = system();
  t.deepEqual(await tasks.history('/Library/LaunchDaemons/com.example.backup.plist', 50, PATIENT), [
    {
      startTime: '2026-11-21T02:05:00.000Z',
      endTime: '2026-11-21T02:06:00.000Z',
      result: 'SIGKILL',
      message: 'calendar interval',
    },
    {
      startTime: '2026-11-20T02:05:00.000Z',
      endTime: '2026-11-20T02:09:00.250Z',
      result: '1',
      message: 'calendar interval',
    },
  ]);
  t.true(calls.at(-1)?.args.includes('process == "launchd" AND eventMessage CONTAINS "com.example.backup"'));
});
