/** Commands about processes, services, event logs and scheduled tasks. */
import type { EventItem, Page, ServiceDetail } from '#agent-protocol';
import type { Tools } from '../../tools/contract.ts';
import { flag, oneOf, optionalOneOf, optionalText, optionalTime, optionalWhole, text, whole } from '../payload.ts';
import type { Tool } from '../tool.ts';

const MOST_PID = 4_294_967_295;
const NAME = 256;
const SEARCH = 255;
const TASK_PATH = 512;
const STATES: readonly ServiceDetail['status'][] = ['running', 'stopped', 'paused', 'starting', 'stopping', 'unknown'];
const LEVELS: readonly EventItem['level'][] = ['critical', 'error', 'warning', 'info', 'debug'];

type Payload = Record<string, unknown>;

const pageIn = (payload: Payload): Page => ({
  page: optionalWhole(payload, 'page', 1, 1_000_000) ?? 1,
  limit: optionalWhole(payload, 'limit', 1, 500) ?? 50,
});
const searchIn = (payload: Payload): { search?: string } => {
  const search = optionalText(payload, 'search', SEARCH);
  return search === undefined ? {} : { search };
};

export const PROCESS_TOOLS = {
  list_processes: ({ processes }, payload, { signal }) =>
    processes.list(
      {
        ...pageIn(payload),
        ...searchIn(payload),
        sort: oneOf(payload, 'sort', ['cpu', 'memory', 'name', 'pid'], 'cpu'),
        sortDir: oneOf(payload, 'sortDir', ['asc', 'desc'], 'desc'),
      },
      signal,
    ),
  get_process: ({ processes }, payload, { signal }) => processes.get(whole(payload, 'pid', 0, MOST_PID), signal),
  async kill_process({ processes }, payload, { signal }) {
    const pid = whole(payload, 'pid', 0, MOST_PID);
    const expectedName = optionalText(payload, 'expectedName', NAME);
    const expectedStartTime = optionalTime(payload, 'expectedStartTime');
    await processes.kill(
      {
        pid,
        force: flag(payload, 'force'),
        ...(expectedName !== undefined && { expectedName }),
        ...(expectedStartTime !== undefined && { expectedStartTime }),
      },
      signal,
    );
    return { pid };
  },
} satisfies Record<string, Tool>;

const changeService =
  (verb: 'start' | 'stop' | 'restart'): Tool =>
  ({ services }, payload, { signal }) =>
    services.change(text(payload, 'name', NAME), verb, signal);

export const SERVICE_TOOLS = {
  list_services({ services }, payload, { signal }) {
    const status = optionalOneOf(payload, 'status', STATES);
    return services.list({ ...pageIn(payload), ...searchIn(payload), ...(status && { status }) }, signal);
  },
  get_service: ({ services }, payload, { signal }) => services.get(text(payload, 'name', NAME), signal),
  start_service: changeService('start'),
  stop_service: changeService('stop'),
  restart_service: changeService('restart'),
} satisfies Record<string, Tool>;

export const EVENT_LOG_TOOLS = {
  event_logs_list: async ({ eventLogs }, _payload, { signal }) => ({ items: await eventLogs.list(signal) }),
  event_logs_query({ eventLogs }, payload, { signal }) {
    const level = optionalOneOf(payload, 'level', LEVELS);
    const source = optionalText(payload, 'source', NAME);
    const eventId = optionalText(payload, 'eventId', NAME);
    const startTime = optionalTime(payload, 'startTime');
    const endTime = optionalTime(payload, 'endTime');
    return eventLogs.query(
      text(payload, 'log', NAME),
      {
        ...pageIn(payload),
        ...(level && { level }),
        ...(source && { source }),
        ...(eventId && { eventId }),
        ...(startTime && { startTime }),
        ...(endTime && { endTime }),
      },
      signal,
    );
  },
  event_log_get: ({ eventLogs }, payload, { signal }) =>
    eventLogs.event(text(payload, 'log', NAME), text(payload, 'recordId', 1_000), signal),
} satisfies Record<string, Tool>;

const changeTask =
  (verb: Parameters<Tools['tasks']['change']>[1]): Tool =>
  async ({ tasks }, payload, { signal }) => {
    const path = text(payload, 'path', TASK_PATH);
    return { path, ...(await tasks.change(path, verb, signal)) };
  };

export const TASK_TOOLS = {
  tasks_list: ({ tasks }, payload, { signal }) =>
    tasks.list(
      {
        ...pageIn(payload),
        ...searchIn(payload),
        folder: optionalText(payload, 'folder', TASK_PATH) ?? '\\',
      },
      signal,
    ),
  task_get: ({ tasks }, payload, { signal }) => tasks.get(text(payload, 'path', TASK_PATH), signal),
  task_history: async ({ tasks }, payload, { signal }) => ({
    items: await tasks.history(text(payload, 'path', TASK_PATH), optionalWhole(payload, 'limit', 1, 200) ?? 50, signal),
  }),
  task_run: changeTask('run'),
  task_enable: changeTask('enable'),
  task_disable: changeTask('disable'),
} satisfies Record<string, Tool>;
