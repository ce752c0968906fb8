/** The invented tools of simulated devices answer every interactive command in the shapes of the wire. */
import test from 'ava';
import type {
  EventItem,
  EventLogItem,
  FileList,
  Paged,
  ProcessItem,
  RegistryKeyItem,
  RegistryValueItem,
  ServiceChange,
  ServiceDetail,
  TaskItem,
  TaskRun,
} from '#agent-protocol';
import type { Outcome } from '../src/commands/contract.ts';
import { simulatedHandlers } from '../src/simulated/handlers.ts';

const host = {} as never;
const device = (osType: 'windows' | 'linux') => {
  const handlers = simulatedHandlers(osType, 'pc-1');
  return async (type: string, payload: object = {}): Promise<Outcome> => {
    const handler = handlers.get(type);
    if (!handler) throw new Error(`nobody answers ${type}`);
    const run = { commandId: 'c', signal: new AbortController().signal };
    return handler(payload as Record<string, unknown>, host, run);
  };
};
const resultOf = async <T>(outcome: Promise<Outcome>) => (await outcome).result as T;

/** The first of a list that must not be empty. */
function firstOf<T>([first]: readonly T[]): T {
  if (first === undefined) throw new Error('there is nothing');
  return first;
}

test('processes are paged, sorted and searched, and end once', async (t) => {
  const ask = device('linux');
  const list = await resultOf<Paged<ProcessItem>>(
    ask('list_processes', { page: 1, limit: 5, sort: 'memory', sortDir: 'desc' }),
  );
  t.is(list.items.length, 5);
  t.true(Number(list.total) > 5);
  t.true(Number(list.items[0]?.memoryMb) >= Number(list.items[1]?.memoryMb));
  const { pid, name, startTime } = firstOf(list.items);
  const named = await resultOf<Paged<ProcessItem>>(ask('list_processes', { page: 1, limit: 500, search: name }));
  t.is(named.items[0]?.name, name);
  t.like(await ask('kill_process', { pid, force: false, expectedName: 'other' }), { result: { code: 'CONFLICT' } });
  t.like(await ask('kill_process', { pid, force: true, expectedName: name, expectedStartTime: startTime }), {
    status: 'completed',
    result: { pid },
  });
  t.like(await ask('get_process', { pid }), { status: 'failed', result: { code: 'NOT_FOUND' } });
  t.like(await ask('kill_process', { pid: 1 }), { result: { code: 'PROTECTED' } });
});

test('services stop and start, and each device has its own', async (t) => {
  const [one, other] = [device('linux'), device('linux')];
  t.deepEqual(await resultOf(one('stop_service', { name: 'ssh' })), { name: 'ssh', status: 'stopped' });
  t.is((await resultOf<ServiceChange>(one('stop_service', { name: 'ssh' }))).note, 'The service was stopped already');
  t.is((await resultOf<Paged<ServiceDetail>>(one('list_services', { page: 1, limit: 9, status: 'stopped' }))).total, 1);
  t.is((await resultOf<ServiceDetail>(other('get_service', { name: 'ssh' }))).status, 'running');
  t.is((await resultOf<ServiceChange>(one('restart_service', { name: 'ssh' }))).status, 'running');
});

test('logs, tasks and folders can be walked', async (t) => {
  const ask = device('linux');
  const log = firstOf((await resultOf<Paged<EventLogItem>>(ask('event_logs_list'))).items);
  const events = await resultOf<Paged<EventItem>>(
    ask('event_logs_query', { log: log.name, page: 2, limit: 10, level: 'error' }),
  );
  t.true(events.items.length > 0 && events.items.every((one) => one.level === 'error'));
  t.is(
    (
      await resultOf<{ details: Record<string, string> }>(
        ask('event_log_get', { log: log.name, recordId: firstOf(events.items).recordId }),
      )
    ).details.simulated,
    'true',
  );
  const task = firstOf((await resultOf<Paged<TaskItem>>(ask('tasks_list', { page: 1, limit: 10, folder: '/' }))).items);
  await ask('task_disable', { path: task.path });
  t.is((await resultOf<TaskItem>(ask('task_get', { path: task.path }))).state, 'disabled');
  t.is((await resultOf<{ items: TaskRun[] }>(ask('task_history', { path: task.path, limit: 2 }))).items.length, 2);
  const roots = await resultOf<FileList>(ask('file_list', { path: '', showHidden: false }));
  const top = await resultOf<FileList>(ask('file_list', { path: firstOf(roots.entries).path }));
  const folder = firstOf(top.entries.filter((one) => one.type === 'directory'));
  t.is((await resultOf<FileList>(ask('file_list', { path: folder.path }))).parent, '/');
  t.like(await ask('file_list', { path: '/nowhere' }), { result: { code: 'NOT_FOUND' } });
  t.like(await ask('file_read', { path: '/readme.txt', transfer: true }), { result: { code: 'UNSUPPORTED' } });
});

test('only Windows has a registry, which keeps what is written', async (t) => {
  t.like(await device('linux')('registry_keys', { hive: 'HKLM', path: 'SOFTWARE', view: '64' }), {
    result: { code: 'UNSUPPORTED_OS' },
  });
  const ask = device('windows');
  const place = { hive: 'HKLM', path: 'SOFTWARE\\Mine', view: '64' };
  t.deepEqual(await resultOf(ask('registry_key_create', place)), { created: true });
  const value = { ...place, name: 'A', type: 'REG_SZ', data: 'x' };
  t.deepEqual(await resultOf(ask('registry_set', value)), { before: null });
  t.is((await resultOf<RegistryValueItem>(ask('registry_get', { ...place, name: 'A' }))).data, 'x');
  t.is((await resultOf<{ items: RegistryValueItem[] }>(ask('registry_values', place))).items.length, 1);
  t.is(
    (await resultOf<{ items: RegistryKeyItem[] }>(ask('registry_keys', { ...place, path: 'SOFTWARE' }))).items.length,
    2,
  );
  t.like(await ask('registry_key_delete', { ...place, path: 'SOFTWARE', recursive: false }), {
    result: { code: 'CONFLICT' },
  });
  t.deepEqual(await resultOf(ask('registry_delete', { ...place, name: 'A' })), {});
  t.deepEqual(await resultOf(ask('registry_key_delete', { ...place, recursive: true })), {});
});
