/** The types of all live tools. */
import { GET_EVENT, LIST_LOGS, QUERY_EVENTS } from './event-log.ts';
import { LIST_FILES, READ_FILE, WRITE_FILE } from './file.ts';
import { GET_PROCESS, KILL_PROCESS, LIST_PROCESSES } from './process.ts';
import { CREATE_KEY, DELETE_KEY, DELETE_VALUE, GET_VALUE, KEYS, SET_VALUE, VALUES } from './registry.ts';
import { CHANGE_SERVICE, GET_SERVICE, LIST_SERVICES } from './service.ts';
import { CHANGE_TASK, GET_TASK, LIST_TASKS, TASK_HISTORY } from './task.ts';

/** The types of their commands. */
export const TOOL_TYPES: ReadonlySet<string> = new Set(
  [
    ...[LIST_PROCESSES, GET_PROCESS, KILL_PROCESS],
    ...[LIST_SERVICES, GET_SERVICE, ...Object.values(CHANGE_SERVICE)],
    ...[KEYS, VALUES, GET_VALUE, SET_VALUE, DELETE_VALUE, CREATE_KEY, DELETE_KEY],
    ...[LIST_LOGS, QUERY_EVENTS, GET_EVENT],
    ...[LIST_TASKS, GET_TASK, TASK_HISTORY, ...Object.values(CHANGE_TASK)],
    ...[LIST_FILES, READ_FILE, WRITE_FILE],
  ].map(({ type }) => type),
);
