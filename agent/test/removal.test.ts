/** What an installed agent removes when it is uninstalled, and when it says so. */
import { existsSync } from 'node:fs';
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { installedStateFolder, removalOf } from '../src/removal.ts';
import { bench, temporaryFolder } from './harness.ts';
import { PATIENT, recordedAsk, scriptOf } from './recorded.ts';

const UNITS = ['watchdog', 'agent'].map((name) => `etc/systemd/system/quartermaster-${name}.service`);
const DAEMONS = ['watchdog', 'agent'].map((name) => `Library/LaunchDaemons/quartermaster-${name}.plist`);
const PROGRAMS = ['agent', 'watchdog', 'agent.previous'].map((name) => `usr/local/lib/quartermaster-agent/${name}`);

/** A root folder as the installer leaves it. */
async function installed(t: ExecutionContext, files: readonly string[]): Promise<{ root: string; program: string }> {
  const root = await temporaryFolder(t);
  for (const file of files) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), 'x');
  }
  return { root, program: join(root, 'usr/local/lib/quartermaster-agent/agent') };
}

test('on Linux the watchdog is stopped first, and units and programs are gone before the server hears of it', async (t) => {
  const { root, program } = await installed(t, [...UNITS, ...PROGRAMS]);
  const { ask, calls } = recordedAsk(() => '');
  const remove = removalOf(program, 'linux', ask, true);
  const { server, run, stateFile } = await bench(t);
  let left: string[] | undefined;
  server.before = ({ path }) => {
    if (path.endsWith('/c-1/result')) {
      left = [...UNITS, ...PROGRAMS].filter((file) => existsSync(join(root, file)));
    }
    return undefined;
  };
  server.queue.push({ id: 'c-1', type: 'uninstall_agent', payload: {} });
  t.is(await run(remove && { remove }).ended, 'uninstalled');
  t.deepEqual(left, []);
  t.deepEqual(
    calls.map(({ program: name, args }) => [name, ...args].join(' ')),
    [
      'systemctl disable --quiet --now quartermaster-watchdog.service',
      'systemctl disable --quiet quartermaster-agent.service',
      'systemctl daemon-reload',
    ],
  );
  const removed = [...UNITS, 'usr/local/lib/quartermaster-agent'].map((file) => join(root, file));
  t.deepEqual(server.results('c-1')[0]?.result, { removed });
  await t.throwsAsync(readFile(stateFile), { code: 'ENOENT' });
});

test('a removal that fails is reported as failed, and the agent remains', async (t) => {
  const { root, program } = await installed(t, [...UNITS, ...PROGRAMS]);
  const { ask } = recordedAsk(() => ({ code: 1, stderr: 'Access denied' }));
  const remove = removalOf(program, 'linux', ask, true);
  const { server, run, stateFile } = await bench(t);
  server.queue.push({ id: 'c-1', type: 'uninstall_agent', payload: {} });
  const { stop } = run(remove && { remove });
  const { status, error } = await server.result('c-1');
  t.deepEqual(
    [status, error],
    ['failed', 'systemctl disable --quiet --now quartermaster-watchdog.service failed: Access denied'],
  );
  const beats = server.calls('/heartbeat').length;
  await server.until(() => server.calls('/heartbeat').length > beats + 1);
  t.is(await stop(), 'stopped');
  await access(join(root, UNITS[0] ?? ''));
  await access(stateFile);
});

test('below another root folder files are removed and no service manager is asked', async (t) => {
  const { root, program } = await installed(t, [...UNITS, ...PROGRAMS]);
  const { ask, calls } = recordedAsk(() => undefined);
  await removalOf(program, 'linux', ask)?.(PATIENT);
  t.deepEqual(calls, []);
  for (const file of [...UNITS, ...PROGRAMS]) await t.throwsAsync(access(join(root, file)), { code: 'ENOENT' }, file);
});

test('on macOS only the watchdog is unloaded, since that would end the agent', async (t) => {
  const { root, program } = await installed(t, [...DAEMONS, ...PROGRAMS]);
  const { ask, calls } = recordedAsk(() => '');
  await removalOf(program, 'darwin', ask, true)?.(PATIENT);
  t.deepEqual(
    calls.map(({ program: name, args }) => [name, ...args]),
    [['/bin/launchctl', 'unload', join(root, DAEMONS[0] ?? '')]],
  );
  for (const file of [...DAEMONS, ...PROGRAMS]) await t.throwsAsync(access(join(root, file)), { code: 'ENOENT' }, file);
});

test('on Windows the task is removed and no program keeps its name, though it runs', async (t) => {
  const root = await temporaryFolder(t);
  const folder = join(root, 'Quartermaster Agent');
  await mkdir(folder);
  for (const name of ['agent.exe', 'watchdog.exe']) await writeFile(join(folder, name), 'x');
  const { ask, calls } = recordedAsk(() => '{"value":{"found":true}}');
  await removalOf(join(folder, 'agent.exe'), 'win32', ask)?.(PATIENT);
  for (const name of ['agent.exe', 'watchdog.exe']) await access(join(folder, `${name}.removed`));
  t.deepEqual(
    calls.map(({ input }) => input),
    ['{"task":"Quartermaster Agent"}', JSON.stringify({ folder })],
  );
  t.regex(scriptOf(calls[0] ?? { program: '', args: [], input: '' }), /Unregister-ScheduledTask/);
  for (const call of calls) t.notRegex(scriptOf(call), /"/);
});

test('a program that the installer did not place removes nothing but its own state', (t) => {
  const { ask } = recordedAsk(() => undefined);
  t.is(removalOf('/home/ada/agent', 'linux', ask), undefined);
});

test('only the folder that the installer made for the state is removed with it', (t) => {
  t.is(installedStateFolder('/var/lib/quartermaster-agent/state.json'), '/var/lib/quartermaster-agent');
  t.is(installedStateFolder('/root/state.json'), undefined);
  t.is(installedStateFolder('/etc/quartermaster/agent.json'), undefined);
});
