/** Commands: delivered, run once, answered until the server has the answer. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { Metrics } from '#agent-protocol';
import { createClient, RefusedError } from '../src/link/client.ts';
import { simulatedMachine } from '../src/simulated/machine.ts';
import { diskJournal, Journal } from '../src/store/journal.ts';
import { refusal } from './fake-server.ts';
import { bench, temporaryFolder } from './harness.ts';

const bash = (id: string, content: string, more: object = {}) => ({
  id,
  type: 'script',
  payload: { language: 'bash', content, timeoutSeconds: 20, ...more },
});

test('a script from a heartbeat is started, run and answered with its output', async (t) => {
  const { server, run } = await bench(t);
  server.queue.push(bash('c-1', 'echo "$GREETING $1"; echo bad >&2', { args: ['world'], env: { GREETING: 'hello' } }));
  run();
  const result = await server.result('c-1');
  t.like(result, { status: 'completed', exitCode: 0, stdout: 'hello world\n', stderr: 'bad\n' });
  const [beat] = server.calls('/heartbeat');
  t.is(beat?.headers.authorization, 'Bearer old-auth');
  t.like(beat?.body, { role: 'agent', status: 'ok' });
  t.is(typeof (beat?.body.metrics as Metrics | undefined)?.cpuPercent, 'number');
  const order = server.seen.map(({ path }) => path).filter((path) => path.includes('/c-1/'));
  t.deepEqual(order, ['/agents/agent-1/commands/c-1/start', '/agents/agent-1/commands/c-1/result']);
});

test('a script that exits with another code than 0 has failed with that code', async (t) => {
  const { server, run } = await bench(t);
  server.queue.push(bash('c-1', 'exit 7'));
  run();
  t.like(await server.result('c-1'), { status: 'failed', exitCode: 7 });
});

test('a command delivered twice runs once and is answered twice', async (t) => {
  const { server, run, folder } = await bench(t);
  const mark = join(folder, 'mark');
  const command = bash('c-1', `echo ran >> ${mark}; echo done`);
  server.queue.push(command);
  run();
  await server.result('c-1');
  server.queue.push(command);
  const [, again] = await server.until(() => server.results('c-1').length === 2 && server.results('c-1'));
  t.is(again?.stdout, 'done\n');
  t.is(await readFile(mark, 'utf8'), 'ran\n');
});

test('a command delivered again after a restart is answered from disk', async (t) => {
  const { server, run, folder } = await bench(t);
  const mark = join(folder, 'mark');
  const command = bash('c-1', `echo ran >> ${mark}; echo done`);
  server.queue.push(command);
  const first = run();
  await server.result('c-1');
  await first.stop();
  server.queue.push(command);
  run();
  await server.until(() => server.results('c-1').length === 2);
  t.is(await readFile(mark, 'utf8'), 'ran\n');
});

test('a result is sent again until the server takes it', async (t) => {
  const { server, run } = await bench(t);
  let faults = 3;
  server.before = ({ path }) => {
    if (!path.endsWith('/result') || faults === 0) return undefined;
    faults -= 1;
    return refusal(503, 'UNAVAILABLE');
  };
  server.queue.push(bash('c-1', 'echo kept'));
  run();
  t.is((await server.result('c-1')).stdout, 'kept\n');
  t.is(server.calls('/c-1/result').length, 4);
});

test('a result that was not delivered before a restart is delivered after it', async (t) => {
  const { server, run } = await bench(t);
  server.before = ({ path }) => (path.endsWith('/result') ? refusal(503, 'UNAVAILABLE') : undefined);
  server.queue.push(bash('c-1', 'echo kept'));
  const first = run();
  await server.until(() => server.calls('/c-1/result').length > 0);
  await first.stop();
  server.before = () => undefined;
  run();
  t.is((await server.result('c-1')).stdout, 'kept\n');
});

test('a result of an unknown command is dropped', async (t) => {
  const { server, run } = await bench(t);
  server.before = ({ path }) => (path.endsWith('/c-1/result') ? refusal(404, 'NOT_FOUND') : undefined);
  server.queue.push(bash('c-1', 'true'));
  run();
  await server.until(() => server.calls('/c-1/result').length > 0);
  const beats = server.calls('/heartbeat').length;
  await server.until(() => server.calls('/heartbeat').length > beats + 3);
  t.is(server.calls('/c-1/result').length, 1);
});

test('a command the server withdrew before its start does not run', async (t) => {
  const { server, run, folder } = await bench(t);
  server.before = ({ path }) => (path.endsWith('/c-1/start') ? refusal(409, 'INVALID_STATE') : undefined);
  server.queue.push(bash('c-1', `touch ${join(folder, 'mark')}`), bash('c-2', 'true'));
  run();
  await server.result('c-2');
  await t.throwsAsync(readFile(join(folder, 'mark')), { code: 'ENOENT' });
  t.is(server.calls('/c-1/result').length, 0);
});

test('a command that was started and has no result is failed when the journal is opened again', async (t) => {
  const folder = await temporaryFolder(t);
  const first = await Journal.open(diskJournal(folder));
  await first.start('c-1', new Date().toISOString());
  const second = await Journal.open(diskJournal(folder));
  const [{ result } = { result: undefined }] = second.undelivered();
  t.is(result?.status, 'failed');
  t.is(result?.error, 'the agent ended before it recorded the result; the command does not run any more');
});

test('the journal forgets the oldest confirmed commands and never an undelivered result', async (t) => {
  const folder = await temporaryFolder(t);
  const journal = await Journal.open(diskJournal(folder), 2);
  const startedAt = new Date().toISOString();
  for (const id of ['a', 'b', 'c', 'd']) {
    await journal.start(id, startedAt);
    await journal.finish(id, { status: 'completed', durationMs: 1, startedAt });
    if (id !== 'a') await journal.confirm(id);
  }
  const reopened = await Journal.open(diskJournal(folder), 2);
  t.deepEqual(
    ['a', 'b', 'c', 'd'].map((id) => reopened.get(id)?.phase),
    ['finished', undefined, undefined, 'confirmed'],
  );
});

test('an unknown command has failed, power is refused, and automatic updates are remembered', async (t) => {
  const { server, run, stateFile } = await bench(t);
  server.queue.push({ id: 'c-1', type: 'dance', payload: {} }, { id: 'c-2', type: 'reboot', payload: {} });
  server.queue.push({ id: 'c-3', type: 'set_auto_update', payload: { enabled: false } });
  run();
  t.like(await server.result('c-1'), { status: 'failed', error: 'unknown command' });
  t.regex((await server.result('c-2')).error ?? '', /with --no-power/);
  t.is((await server.result('c-3')).status, 'completed');
  t.like(server.calls('/heartbeat')[0]?.body, { powerCommands: false });
  t.false(JSON.parse(await readFile(stateFile, 'utf8')).autoUpdateEnabled);
});

test('refresh_inventory sends every snapshot with a hash that repeats while nothing changes', async (t) => {
  const { server, run } = await bench(t);
  run();
  await server.until(() => server.calls('/services').length === 1);
  server.queue.push({ id: 'c-1', type: 'refresh_inventory', payload: {} });
  const { result } = await server.result('c-1');
  t.deepEqual(Object.keys(result as object).sort(), ['disks', 'hardware', 'network', 'services', 'software']);
  const [first, second] = server.calls('/software').map(({ body }) => body.snapshotHash);
  t.regex(String(first), /^[0-9a-f]{64}$/);
  t.is(first, second);
});

test('a full batch is followed by a poll at once', async (t) => {
  const { server, run } = await bench(t);
  for (let n = 0; n < 14; n += 1) server.queue.push({ id: `c-${n}`, type: 'none', payload: {} });
  run({ intervalSeconds: 3_600 });
  await server.result('c-13');
  t.is(server.calls('/heartbeat').length, 1);
});

test('a stop kills what runs and reports it as failed', async (t) => {
  const { server, run } = await bench(t);
  server.queue.push(bash('c-1', 'sleep 30'));
  const { stop } = run();
  await server.until(() => server.calls('/c-1/start').length > 0);
  t.is(await stop(), 'stopped');
  t.like(server.results('c-1')[0], { status: 'failed', error: 'agent stopped while the command ran' });
});

test('an agent that is stopped says so, and one that removes itself or loses its device does not', async (t) => {
  const { server, run } = await bench(t);
  const first = run();
  await server.until(() => server.calls('/heartbeat').length > 0);
  t.is(await first.stop(), 'stopped');
  t.is(server.calls('/stop').length, 1);
  server.heartbeat = { uninstall: true };
  t.is(await run().ended, 'uninstalled');
  t.is(server.calls('/stop').length, 1);
});

test('uninstall_agent is answered, although the server is busy, before the state is deleted', async (t) => {
  const { server, run, stateFile, folder } = await bench(t);
  let faults = 2;
  server.before = ({ path }) => (path.endsWith('/result') && faults-- > 0 ? refusal(503, 'UNAVAILABLE') : undefined);
  server.queue.push({ id: 'c-1', type: 'uninstall_agent', payload: {} });
  t.is(await run().ended, 'uninstalled');
  t.is(server.results('c-1')[0]?.status, 'completed');
  await t.throwsAsync(readFile(stateFile), { code: 'ENOENT' });
  await t.throwsAsync(readFile(join(folder, 'state-commands', 'c-1.json')), { code: 'ENOENT' });
});

test('uninstall in a heartbeat without a command removes the agent too', async (t) => {
  const { server, run, stateFile } = await bench(t);
  server.heartbeat = { uninstall: true };
  server.before = ({ path }) => (path.endsWith('/commands') ? refusal(403, 'FORBIDDEN') : undefined);
  t.is(await run().ended, 'uninstalled');
  await t.throwsAsync(readFile(stateFile), { code: 'ENOENT' });
});

test('simulated machines stay the same for one seed and differ between seeds', async (t) => {
  const [a, same, b] = await Promise.all(['a', 'a', 'b'].map((seed) => simulatedMachine(seed).identity()));
  t.deepEqual(a, same);
  t.not(a?.machineId, b?.machineId);
});

test('a refusal carries code, details and the wait the server asks for', async (t) => {
  const { server } = await bench(t);
  server.before = () => refusal(403, 'DEVICE_LIMIT_REACHED', { maxDevices: 3 });
  const fault = await t.throwsAsync(createClient(server.url, 1_000)('GET', '/x'), { instanceOf: RefusedError });
  t.like(fault, { status: 403, code: 'DEVICE_LIMIT_REACHED', details: { maxDevices: 3 }, retryAfterMs: 0 });
});
