/** What the agent says about itself reaches the server, from the level on that was asked for. */
import test from 'ava';
import type { LogLevel } from '#agent-protocol';
import { Diary } from '../src/link/diary.ts';
import type { Session } from '../src/link/session.ts';
import { refusal } from './fake-server.ts';
import { bench, QUICK } from './harness.ts';

interface Sent {
  level: LogLevel;
  message: string;
  component: string;
  agentVersion: string;
  timestamp: string;
}

/** A session that keeps what it is given, and answers as told. */
function keeping(answer: () => Promise<void> = async () => undefined) {
  const calls: Sent[][] = [];
  const session = {
    condition: 'ok',
    state: { config: {} },
    async call(_method: string, _path: string, { logs }: { logs: Sent[] }) {
      await answer();
      calls.push(logs);
    },
  } as unknown as Session;
  return { calls, session };
}

test('warnings reach the server with the next beat, and news do not', async (t) => {
  const { server, run } = await bench(t);
  server.before = ({ path }) => (path.endsWith('/hardware') ? refusal(503, 'UNAVAILABLE') : undefined);
  run({ timing: { ...QUICK, lines: 5 } });
  const sent = await server.until(() => server.calls('/logs')[0]);
  t.is(sent.path, '/agents/agent-1/logs');
  const [line, more] = sent.body.logs as Sent[];
  t.like(line, { level: 'warn', component: 'agent' });
  t.regex(line?.message ?? '', /^Inventory: not all of the inventory was sent \(hardware/);
  t.true(Math.abs(Date.parse(line?.timestamp ?? '') - Date.now()) < 60_000);
  t.truthy(line?.agentVersion);
  t.is(more, undefined);
});

test('set_log_level sends more, and refuses what is no level or no time', async (t) => {
  const { server, run } = await bench(t);
  for (const [id, payload] of [
    ['bad-1', { level: 'loud' }],
    ['bad-2', { level: 'info', durationMinutes: -1 }],
    ['bad-3', { level: 'info', durationMinutes: 1.5 }],
    ['good', { level: 'info' }],
  ] as const)
    server.queue.push({ id, type: 'set_log_level', payload });
  run({ timing: { ...QUICK, lines: 5 } });
  for (const id of ['bad-1', 'bad-2', 'bad-3']) t.is((await server.result(id)).status, 'failed');
  t.deepEqual((await server.result('good')).result, { level: 'info', durationMinutes: 60 });
  server.queue.push({ id: 'c-1', type: 'none', payload: {} });
  const lines = (): Sent[] => server.calls('/logs').flatMap(({ body }) => body.logs as Sent[]);
  const line = await server.until(() => lines().find(({ message }) => message.includes('(c-1)')));
  t.is(line.level, 'info');
});

test('heartbeats say while the inventory cannot be sent, and no longer once it can', async (t) => {
  const { server, run } = await bench(t);
  let down = true;
  server.before = ({ path }) => (down && path.endsWith('/hardware') ? refusal(503, 'UNAVAILABLE') : undefined);
  run();
  const statuses = () => server.calls('/heartbeat').map(({ body }) => body.status);
  await server.until(() => statuses().includes('warning'));
  t.is(statuses()[0], 'ok');
  down = false;
  await server.until(() => statuses().at(-1) === 'ok');
  t.true(server.calls('/hardware').length > 1);
});

test('the last warnings are sent when the agent stops', async (t) => {
  const { server, run, lines } = await bench(t);
  server.before = ({ path }) => (path.endsWith('/c-1/result') ? refusal(400, 'VALIDATION_ERROR') : undefined);
  const { stop } = run();
  await server.until(() => server.calls('/heartbeat').length > 1);
  server.queue.push({ id: 'c-1', type: 'none', payload: {} });
  await server.until(() => lines.some((line) => line.includes('does not take the result of c-1')));
  t.is(server.calls('/logs').length, 0);
  await stop();
  t.is(server.calls('/logs').length, 1);
});

test('a level lasts for its minutes, or until the agent starts anew', async (t) => {
  const { calls, session } = keeping();
  const diary = new Diary(() => undefined);
  diary.attach(session);
  diary.setLevel('debug', 0);
  diary.log('kept', 'debug');
  // So short that it is over by the next line.
  diary.setLevel('debug', 1e-9);
  diary.log('dropped', 'debug');
  diary.log('kept too', 'error');
  await diary.send();
  t.deepEqual(
    calls.flat().map(({ message }) => message),
    ['kept', 'kept too'],
  );
});

test('five hundred lines go at once, and never more in one call', async (t) => {
  const { calls, session } = keeping();
  const diary = new Diary(() => undefined);
  diary.attach(session);
  for (let n = 0; n < 1_200; n += 1) diary.log(`line ${n}`, 'warn');
  await diary.send();
  t.deepEqual(
    calls.map(({ length }) => length),
    [500, 500, 200],
  );
  t.deepEqual(
    calls.flat().map(({ message }) => message),
    Array.from({ length: 1_200 }, (_, n) => `line ${n}`),
  );
});

test('lines wait while there is no server, the oldest are lost, and how many is said', async (t) => {
  let away = true;
  const { calls, session } = keeping(async () => {
    if (away) throw new Error('away');
  });
  const diary = new Diary(() => undefined);
  diary.attach(session);
  for (let n = 0; n < 2_010; n += 1) diary.log(`line ${n}`, 'warn');
  await t.throwsAsync(diary.send(), { message: 'away' });
  away = false;
  await diary.send();
  const lines = calls.flat();
  t.is(lines.length, 2_000);
  t.is(lines[0]?.message, '10 older lines were lost while there was no server. line 10');
  t.is(lines[1]?.message, 'line 11');
  await diary.send();
  t.is(calls.flat().length, 2_000);
});

test('everything stands on the console, whatever its level', (t) => {
  const lines: [string, LogLevel | undefined][] = [];
  const { log } = new Diary((line, level) => lines.push([line, level]));
  log('news');
  log('trouble', 'error');
  t.deepEqual(lines, [
    ['news', 'info'],
    ['trouble', 'error'],
  ]);
});
