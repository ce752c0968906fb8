/** Processes and files of Windows, and how scripts are asked, against what its programs once printed. */
import test from 'ava';
import { isOnDrive, windowsFiles } from '../src/tools/windows/files.ts';
import { windowsProcesses } from '../src/tools/windows/processes.ts';
import { windowsTools } from '../src/tools/windows/tools.ts';
import { type Asked, PATIENT, recordedAsk, recording, scriptOf } from './recorded.ts';

const win = (name: string): string => recording(`windows/${name}`);
const PAGE = { page: 1, limit: 50 };
const AGENT = 4711;

function processes(taskkill: { code: number } = { code: 0 }) {
  const { ask, calls } = recordedAsk((call) => {
    if (call.program === 'taskkill.exe') return { ...taskkill, stderr: win('taskkill-denied-german.txt') };
    return win(scriptOf(call).includes('GetOwner') ? 'owners.json' : 'processes.json');
  });
  return { calls, tools: windowsProcesses(ask, AGENT) };
}

test('processes of Windows come with load, memory, owner and UTC start', async (t) => {
  const { tools, calls } = processes();
  const { items, total } = await tools.list({ page: 1, limit: 2, sort: 'cpu', sortDir: 'desc' }, PATIENT);
  t.is(total, 9);
  t.is(items[0]?.name, 'chrome.exe');
  t.is(items[0]?.commandLine?.length, 1_000);
  t.like(items[0], { cpuPercent: 37.5, memoryMb: 384, user: 'BÄCKEREI\\Jürgen', threads: 41, parentPid: 7712 });
  t.is(items[0]?.startTime, '2026-11-21T08:30:00.999Z');
  t.deepEqual(JSON.parse(calls[1]?.input ?? ''), { pids: [8832, 4711] }, 'owners are asked for one page only');
  t.deepEqual(calls[0]?.args.slice(0, 3), ['-NoProfile', '-NonInteractive', '-Command']);
});

test('processes of Windows are found by name, command line and pid, and sorted stably', async (t) => {
  const { tools } = processes();
  const names = async (search: string) =>
    (await tools.list({ ...PAGE, search, sort: 'name', sortDir: 'asc' }, PATIENT)).items.map(({ name }) => name);
  t.deepEqual(await names('übersicht'), ['notepad.exe']);
  t.deepEqual(await names('8832'), ['chrome.exe']);
  t.deepEqual(await names('quartermaster'), ['agent.exe']);
  t.deepEqual(await names('bäckerei\\'), ['chrome.exe'], 'the owner counts too');
  const byLoad = await tools.list({ ...PAGE, sort: 'cpu', sortDir: 'asc' }, PATIENT);
  t.deepEqual(
    byLoad.items.slice(0, 2).map(({ pid, cpuPercent }) => [pid, cpuPercent]),
    [
      [0, null],
      [5220, null],
    ],
  );
  await t.throwsAsync(tools.get(99, PATIENT), { message: /no process 99/ });
});

test('a process of Windows ends through taskkill, and its tree is left alone', async (t) => {
  const { tools, calls } = processes();
  await tools.kill(
    { pid: 8832, force: true, expectedName: 'Chrome.exe', expectedStartTime: '2026-11-21T08:30:00.999Z' },
    PATIENT,
  );
  await tools.kill({ pid: 6044, force: false }, PATIENT);
  const kills = calls.filter(({ program }) => program === 'taskkill.exe').map(({ args }) => args);
  t.deepEqual(kills, [
    ['/PID', '8832', '/F'],
    ['/PID', '6044'],
  ]);
});

test('Windows itself, the agent and its family, and other processes with the same pid are not ended', async (t) => {
  const { tools, calls } = processes();
  for (const pid of [0, 1, 4, 628, 792, AGENT, 5220]) {
    await t.throwsAsync(tools.kill({ pid, force: true }, PATIENT), { code: 'PROTECTED' }, String(pid));
  }
  const other = { pid: 8832, force: true };
  await t.throwsAsync(tools.kill({ ...other, expectedStartTime: '2026-11-21T08:29:00Z' }, PATIENT), {
    code: 'CONFLICT',
  });
  await t.throwsAsync(tools.kill({ ...other, expectedName: 'notepad.exe' }, PATIENT), { code: 'CONFLICT' });
  await t.throwsAsync(tools.kill({ pid: 31337, force: true }, PATIENT), { code: 'NOT_FOUND' });
  t.false(calls.some(({ program }) => program === 'taskkill.exe'));
});

test('what taskkill refuses is told by its exit code, whatever its language', async (t) => {
  const kill = (code: number, force: boolean) => processes({ code }).tools.kill({ pid: 8832, force }, PATIENT);
  await t.throwsAsync(kill(128, true), { code: 'NOT_FOUND' });
  await t.throwsAsync(kill(1, true), { code: 'DENIED' });
  await t.throwsAsync(kill(1, false), { code: 'CONFLICT', message: /use force/ });
});

test('drives are the roots, and hidden files of a folder are asked for once', async (t) => {
  const { ask, calls } = recordedAsk((call) =>
    win(scriptOf(call).includes('DriveInfo') ? 'drives.json' : 'hidden.json'),
  );
  const files = windowsFiles(ask, ['C:\\Program Files\\Quartermaster']);
  t.deepEqual(
    (await files.roots(PATIENT)).map(({ path, type }) => [path, type]),
    [
      ['C:\\', 'directory'],
      ['D:\\', 'directory'],
    ],
  );
  const hidden = await Promise.all(
    ['C:\\programdata', 'C:\\$Recycle.Bin', 'C:\\Users', 'C:\\'].map((path) => files.isHidden(path, PATIENT)),
  );
  t.deepEqual(hidden, [true, true, false, false]);
  t.is(calls.length, 2);
  for (const secret of [
    'C:\\Windows\\System32\\config\\SAM',
    'E:\\Windows\\NTDS',
    'C:\\Program Files\\Quartermaster',
  ]) {
    t.true(files.denied.includes(secret), secret);
  }
});

test('paths of devices, of shares and of streams are none on a drive', (t) => {
  for (const path of ['C:\\Windows', 'd:/x y/ü.txt', 'C:\\']) t.true(isOnDrive(path), path);
  const others = [
    '\\\\?\\C:\\Windows',
    '\\\\localhost\\C$\\x',
    '\\Windows',
    'C:x',
    'C:\\a::$DATA',
    'C:\\a:b',
    '//./C:/x',
  ];
  for (const path of others) t.false(isOnDrive(path), path);
});

test('what comes from outside never stands in a script, and nothing but ASCII goes in', async (t) => {
  const calls: Asked[] = [];
  const { ask } = recordedAsk((call) => {
    calls.push(call);
    return win('nothing.json');
  });
  const tools = windowsTools([], ask);
  const evil = `x'; Remove-Item "C:" #\u2019ü`;
  await tools.eventLogs.query(evil, { ...PAGE, source: `ü'; calc` }, PATIENT);
  await tools.registry?.values({ hive: 'HKLM', path: evil, view: '64' }, PATIENT);
  await tools.files.isHidden(`C:\\${evil}\\b`, PATIENT);
  t.is(calls.length, 3);
  for (const call of calls) {
    t.false(scriptOf(call).includes('"') || scriptOf(call).includes('Remove-Item') || scriptOf(call).includes('calc'));
    t.regex(call.input ?? '', /^[\x20-\x7e]+$/);
  }
  t.is((JSON.parse(calls[1]?.input ?? '') as { path: string }).path, evil);
});
