/** The commands of the live tools: what each asks for, how it answers, and that none waits behind scripts. */
import test from 'ava';
import type { ToolCode } from '#agent-protocol';
import type { CommandHost } from '../src/commands/contract.ts';
import { HANDLERS } from '../src/commands/handlers.ts';
import { isInteractive, isReading, toolHandlers } from '../src/commands/tools.ts';
import { ToolError, type Tools } from '../src/tools/contract.ts';
import { refusal } from './fake-server.ts';
import { bench } from './harness.ts';

const host = {} as CommandHost;
type Calls = [string, ...unknown[]][];

/** Tools that write down what they are asked and answer with it. */
function noting(calls: Calls): Tools {
  const part = (name: string): never =>
    new Proxy(
      {},
      {
        get:
          (_, method) =>
          async (...args: unknown[]) => {
            calls.push([`${name}.${String(method)}`, ...args.filter((arg) => !(arg instanceof AbortSignal))]);
            return { asked: String(method) };
          },
      },
    ) as never;
  return {
    processes: part('processes'),
    services: part('services'),
    eventLogs: part('eventLogs'),
    tasks: part('tasks'),
    registry: part('registry'),
    files: { roots: async () => [], isHidden: async () => false, denied: [] },
  };
}

/** Tools of which each throws the same. */
function throwing(fault: unknown): Tools {
  const part = new Proxy({}, { get: () => () => Promise.reject(fault) }) as never;
  const files = { roots: part, isHidden: part, denied: [] };
  return { processes: part, services: part, eventLogs: part, tasks: part, registry: part, files };
}

function run(tools: Tools | undefined, type: string, payload: Record<string, unknown>, limitMs?: number) {
  const handler = toolHandlers(tools, limitMs).get(type);
  if (!handler) throw new Error(`no handler for ${type}`);
  return handler(payload, host, { commandId: 'c-1', signal: new AbortController().signal });
}

const place = { hive: 'HKEY_LOCAL_MACHINE', path: 'SOFTWARE\\Demo', view: '32' };

for (const [type, payload, call] of [
  ['list_processes', {}, ['processes.list', { page: 1, limit: 50, sort: 'cpu', sortDir: 'desc' }]],
  [
    'list_processes',
    { page: 2, limit: 10, search: 'ssh', sort: 'name', sortDir: 'asc' },
    ['processes.list', { page: 2, limit: 10, search: 'ssh', sort: 'name', sortDir: 'asc' }],
  ],
  ['get_process', { pid: 7 }, ['processes.get', 7]],
  [
    'kill_process',
    { pid: 7, force: true, expectedName: 'x', expectedStartTime: '2026-01-02T03:04:05.678Z' },
    ['processes.kill', { pid: 7, force: true, expectedName: 'x', expectedStartTime: '2026-01-02T03:04:05.678Z' }],
  ],
  ['kill_process', { pid: 7, expectedName: null }, ['processes.kill', { pid: 7, force: false }]],
  ['list_services', { status: 'running' }, ['services.list', { page: 1, limit: 50, status: 'running' }]],
  ['get_service', { name: 'cron' }, ['services.get', 'cron']],
  ['start_service', { name: 'cron' }, ['services.change', 'cron', 'start']],
  ['stop_service', { name: 'cron' }, ['services.change', 'cron', 'stop']],
  ['restart_service', { name: 'cron' }, ['services.change', 'cron', 'restart']],
  ['registry_keys', place, ['registry.keys', place]],
  ['registry_values', { hive: 'HKLM' }, ['registry.values', { hive: 'HKLM', path: '', view: '64' }]],
  ['registry_get', { ...place, name: '' }, ['registry.value', place, '']],
  [
    'registry_set',
    { ...place, name: 'N', type: 'REG_MULTI_SZ', data: ['a'] },
    ['registry.set', place, { name: 'N', type: 'REG_MULTI_SZ', data: ['a'] }],
  ],
  ['registry_delete', { ...place, name: 'N' }, ['registry.delete', place, 'N']],
  ['registry_key_create', place, ['registry.createKey', place]],
  ['registry_key_delete', { ...place, recursive: true }, ['registry.deleteKey', place, true]],
  ['event_logs_list', {}, ['eventLogs.list']],
  [
    'event_logs_query',
    { log: 'system', level: 'error', source: 'sshd', startTime: '2026-01-02T00:00:00Z', eventId: 'e' },
    [
      'eventLogs.query',
      'system',
      { page: 1, limit: 50, level: 'error', source: 'sshd', startTime: '2026-01-02T00:00:00.000Z', eventId: 'e' },
    ],
  ],
  ['event_log_get', { log: 'system', recordId: 's=1' }, ['eventLogs.event', 'system', 's=1']],
  ['tasks_list', { search: 'apt' }, ['tasks.list', { page: 1, limit: 50, folder: '\\', search: 'apt' }]],
  ['task_get', { path: '/systemd/a.timer' }, ['tasks.get', '/systemd/a.timer']],
  ['task_history', { path: '/systemd/a.timer' }, ['tasks.history', '/systemd/a.timer', 50]],
  ['task_run', { path: 'p' }, ['tasks.change', 'p', 'run']],
  ['task_enable', { path: 'p' }, ['tasks.change', 'p', 'enable']],
  ['task_disable', { path: 'p' }, ['tasks.change', 'p', 'disable']],
] as const) {
  test(`${type} asks the tools for ${JSON.stringify(call)}`, async (t) => {
    const calls: Calls = [];
    const outcome = await run(noting(calls), type, payload);
    t.is(outcome.status, 'completed', outcome.error);
    t.deepEqual(calls as unknown, [call]);
    t.true(HANDLERS.get(type) === undefined && isInteractive(type));
  });
}

test('answers have the shapes of the wire', async (t) => {
  const of = async (type: string, payload: object) => (await run(noting([]), type, { ...payload })).result;
  t.deepEqual(await of('kill_process', { pid: 7 }), { pid: 7 });
  t.deepEqual(await of('event_logs_list', {}), { items: { asked: 'list' } });
  t.deepEqual(await of('registry_delete', { ...place, name: 'N' }), {});
  t.deepEqual(await of('task_history', { path: 'p', limit: 200 }), { items: { asked: 'history' } });
  t.deepEqual(await of('task_run', { path: 'p' }), { path: 'p', asked: 'change' });
  t.deepEqual(await of('file_list', { path: '' }), { path: '', parent: null, entries: [], truncated: false });
});

test('payloads that the server should not have sent are INVALID and reach no tool', async (t) => {
  const calls: Calls = [];
  for (const [type, payload] of [
    ['list_processes', { limit: 501 }],
    ['list_processes', { sort: 'colour' }],
    ['list_processes', { search: 'a\0b' }],
    ['get_process', {}],
    ['get_process', { pid: '7' }],
    ['kill_process', { pid: -1 }],
    ['kill_process', { pid: 7, force: 'yes' }],
    ['kill_process', { pid: 7, expectedStartTime: 'yesterday' }],
    ['get_service', { name: 'x'.repeat(257) }],
    ['list_services', { status: 'odd' }],
    ['registry_keys', { path: 'x' }],
    ['registry_keys', { ...place, view: 64 }],
    ['event_logs_query', {}],
    ['event_log_get', { log: 'system' }],
    ['task_history', { path: 'p', limit: 201 }],
    ['file_list', {}],
    ['file_read', { path: 7 }],
    ['file_write', { path: '/tmp/x', size: -1 }],
  ] as const) {
    const outcome = await run(noting(calls), type, payload);
    t.like(outcome, { status: 'failed', result: { code: 'INVALID' } }, `${type} ${JSON.stringify(payload)}`);
  }
  t.deepEqual(calls, []);
});

const codes: ToolCode[] = [
  'NOT_FOUND',
  'DENIED',
  'PROTECTED',
  'CONFLICT',
  'INVALID',
  'UNSUPPORTED_OS',
  'UNSUPPORTED',
  'FILE_LOCKED',
  'TOO_LARGE',
];
for (const code of codes) {
  test(`a tool that throws ${code} has failed with that code and its sentence`, async (t) => {
    const outcome = await run(throwing(new ToolError(code, 'a sentence')), 'get_process', { pid: 7 });
    t.deepEqual(outcome, { status: 'failed', error: 'a sentence', result: { code } });
  });
}

test('a fault without a code is the device’s own, and has none', async (t) => {
  const outcome = await run(throwing(new Error('disk on fire')), 'get_process', { pid: 7 });
  t.deepEqual(outcome, { status: 'failed', error: 'disk on fire' });
});

test('a tool that does not end in time is answered for with TIMEOUT', async (t) => {
  const stuck = { processes: { get: () => new Promise(() => undefined) } } as unknown as Tools;
  const outcome = await run(stuck, 'get_process', { pid: 7 }, 20);
  t.like(outcome, { status: 'timeout', result: { code: 'TIMEOUT' } });
});

test('a tool is told by its signal that the time is over', async (t) => {
  let told: AbortSignal | undefined;
  const slow = {
    processes: {
      get: (_pid: number, signal: AbortSignal) => {
        told = signal;
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
      },
    },
  } as unknown as Tools;
  t.like(await run(slow, 'get_process', { pid: 7 }, 20), { status: 'timeout', result: { code: 'TIMEOUT' } });
  t.true(told?.aborted);
});

test('where there is no registry its commands are UNSUPPORTED_OS, and without tools all are', async (t) => {
  const tools = { ...noting([]), registry: null };
  t.like(await run(tools, 'registry_keys', place), { status: 'failed', result: { code: 'UNSUPPORTED_OS' } });
  for (const type of toolHandlers(undefined).keys())
    t.like(await run(undefined, type, {}), { status: 'failed', result: { code: 'UNSUPPORTED_OS' } }, type);
});

test('a result of more than 2 MiB loses the end of its list, and says so where it can', async (t) => {
  const items = Array.from({ length: 500 }, (_, index) => ({ index, text: 'ä'.repeat(8_000) }));
  const answer = (result: unknown): Tools => ({ processes: { list: async () => result } }) as unknown as Tools;
  const cut = await run(answer({ items, total: 500 }), 'list_processes', {});
  const kept = (cut.result as { items: unknown[] }).items;
  t.true(kept.length > 100 && kept.length < 140, `${kept.length}`);
  t.true(Buffer.byteLength(JSON.stringify(cut.result)) <= 2 * 1024 * 1024);
  t.deepEqual(kept, items.slice(0, kept.length));
  t.like((await run(answer({ entries: items, truncated: false }), 'list_processes', {})).result, { truncated: true });
  t.deepEqual((await run(answer({ items: [1], total: 1 }), 'list_processes', {})).result, { items: [1], total: 1 });
});

test('only what leaves the machine as it is may begin before the server has agreed', (t) => {
  const early = [...toolHandlers(undefined).keys()].filter(isReading).sort();
  t.deepEqual(early, [
    'event_log_get',
    'event_logs_list',
    'event_logs_query',
    'file_list',
    'get_process',
    'get_service',
    'list_processes',
    'list_services',
    'registry_get',
    'registry_keys',
    'registry_values',
    'task_get',
    'task_history',
    'tasks_list',
  ]);
  t.false(isReading('script') || isInteractive('script'));
});

test('a tool does not wait behind scripts, however many run and wait', async (t) => {
  const { server, run: start } = await bench(t);
  for (let n = 0; n < 10; n += 1)
    server.queue.push({ id: `s-${n}`, type: 'script', payload: { language: 'sh', content: 'sleep 60' } });
  const calls: Calls = [];
  const handlers = new Map([...HANDLERS, ...toolHandlers(noting(calls))]);
  start({ handlers });
  await server.until(() => server.seen.filter(({ path }) => /\/s-\d\/start$/.test(path)).length === 8);
  server.heartbeat = { commands: [{ id: 'tool-1', type: 'get_process', payload: { pid: 7 } }] };
  t.like(await server.result('tool-1'), { status: 'completed', result: { asked: 'get' } });
  t.is(server.seen.filter(({ path }) => /\/s-\d\/start$/.test(path)).length, 8);
});

test('a change that the server withdrew is not made', async (t) => {
  const { server, run: start } = await bench(t);
  server.before = ({ path }) => (path.endsWith('/c-1/start') ? refusal(409, 'INVALID_STATE') : undefined);
  server.queue.push({ id: 'c-1', type: 'stop_service', payload: { name: 'cron' } });
  server.queue.push({ id: 'c-2', type: 'stop_service', payload: { name: 'ssh' } });
  const calls: Calls = [];
  start({ handlers: toolHandlers(noting(calls)) });
  await server.result('c-2');
  t.deepEqual(calls as unknown, [['services.change', 'ssh', 'stop']]);
});
