/** A tenant with a connected device that answers commands by a script. */
import {
  connectAgent,
  type ErrorBody,
  enrollAgent,
  enrollmentKey,
  type FakeAgent,
  type FakeCommand,
  type LiveAgent,
  type Said,
  type Script,
  type Tenant,
  type TestPlatform,
  tenant,
} from '#test';

export interface Bench extends Tenant {
  agent: FakeAgent;
  live: LiveAgent;
  /** A call as the organization's administrator, below the device. */
  ask<B = Answer>(method: string, path: string, body?: unknown): Promise<{ status: number; body: B; headers: Headers }>;
  path: string;
}
// biome-ignore lint/suspicious/noExplicitAny: a test reads the fields it expects
export type Answer = any;
export type Refused = ErrorBody;

/** @param url of the process that the agent connects to; the calls go to the platform's own. */
export async function bench(
  platform: TestPlatform,
  script: Script = answers,
  { osType = 'windows', url = platform.url, at }: { osType?: string; url?: string; at?: Tenant } = {},
): Promise<Bench> {
  const place = at ?? (await tenant(platform));
  const agent = await enrollAgent(platform, { key: await enrollmentKey(platform, place), osType });
  const live = await connectAgent(url, agent, script);
  const path = `/system-tools/devices/${agent.deviceId}`;
  return {
    ...place,
    agent,
    live,
    path,
    ask: (method, below, body) =>
      platform.call(method, path + below, { token: place.orgAdmin.token, ...(body === undefined ? {} : { body }) }),
  };
}

export const process = {
  pid: 42,
  name: 'backup.exe',
  cpuPercent: 1.5,
  memoryMb: 20,
  user: 'SYSTEM',
  status: 'running',
  commandLine: 'backup.exe --password=hunter2 /p:alsosecret --verbose',
  parentPid: 4,
  threads: 3,
  startTime: '2026-01-01T00:00:00.000Z',
};
export const service = {
  name: 'Spooler',
  displayName: 'Print Spooler',
  status: 'running',
  startType: 'auto',
  account: 'LocalSystem',
  description: null,
  path: 'C:\\spool.exe --token abc123',
  dependencies: ['RPCSS'],
};
export const task = {
  path: '\\Vendor\\Nightly',
  name: 'Nightly',
  folder: '\\Vendor',
  state: 'ready',
  lastRunTime: null,
  lastRunResult: null,
  nextRunTime: null,
  triggers: [{ type: 'daily', schedule: '02:00', enabled: true }],
  actions: [{ type: 'exec', command: 'job.exe', arguments: '--api-key k3y' }],
  author: null,
  description: null,
};
export const event = {
  recordId: '77',
  timestamp: '2026-01-01T00:00:00.000Z',
  level: 'info',
  source: 'Kernel',
  eventId: '1',
  message: 'Started',
  computer: 'pc',
  user: null,
};
export const log = {
  name: 'System',
  displayName: 'System',
  recordCount: 10,
  maxSize: 1000,
  retentionDays: null,
  lastWriteTime: null,
};
const list = (item: unknown) => ({ items: [item], total: 1 });

const RESULTS: Record<string, (payload: FakeCommand['payload']) => unknown> = {
  list_processes: () => list(process),
  get_process: () => ({ ...process, openFiles: ['C:\\x'] }),
  kill_process: ({ pid }) => ({ pid }),
  list_services: () => list(service),
  get_service: () => service,
  start_service: ({ name }) => ({ name, status: 'running', note: 'It was running' }),
  stop_service: ({ name }) => ({ name, status: 'stopped' }),
  restart_service: ({ name }) => ({ name, status: 'running', restarted: ['Fax'] }),
  registry_keys: () => ({
    items: [{ name: 'A', path: 'SOFTWARE\\A', subKeyCount: 0, valueCount: 1, lastModified: null }],
  }),
  registry_values: () => ({ items: [{ name: '', type: 'REG_SZ', data: 'x', truncated: false }] }),
  registry_get: ({ name }) => ({ name, type: 'REG_QWORD', data: '18446744073709551615', truncated: false }),
  registry_set: () => ({ before: { type: 'REG_SZ', bytes: 12 } }),
  registry_delete: () => ({}),
  registry_key_create: () => ({ created: true }),
  registry_key_delete: () => ({}),
  event_logs_list: () => ({ items: [log] }),
  event_logs_query: () => ({ items: [{ ...event, category: 'Boot' }], total: null }),
  event_log_get: () => ({ ...event, details: { category: 'Boot', rawXml: '<Event/>', more: 'yes' } }),
  tasks_list: () => list(task),
  task_get: () => task,
  task_history: () => ({ items: [{ startTime: null, endTime: null, result: '0', message: null }] }),
  task_run: ({ path }) => ({ path }),
  task_enable: ({ path }) => ({ path, note: 'It was enabled' }),
  task_disable: ({ path }) => ({ path }),
  file_list: ({ path }) => ({ path, parent: null, entries: [], truncated: false }),
};
/** A script in which every command succeeds. */
export const answers = ({ type, payload }: FakeCommand): Said => ({ result: RESULTS[type]?.(payload) });

/** Resets the rate limit of a user, for tests of something else. */
export const forgetCounts = async (platform: TestPlatform, { orgAdmin }: Tenant): Promise<void> => {
  const { counters } = platform.platform.tasks.work.services as unknown as {
    counters: { reset(key: string): Promise<void> };
  };
  await counters.reset(`system-tools:user:${orgAdmin.id}`);
};
