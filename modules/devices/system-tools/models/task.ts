/** Scheduled tasks of a device, as its live tools list them. */
import Joi from 'joi';
import { named, type PageQuery, pageQuery } from '#core';
import { shape, type Tool } from './tool.ts';
import { deviceId, type Paged, paged } from './tool-routes.ts';

export interface Task {
  path: string;
  name: string;
  folder: string;
  state: string;
  lastRunTime: string | null;
  lastRunResult: string | null;
  nextRunTime: string | null;
  triggers: { type: string; schedule: string; enabled: boolean }[];
  actions: { type: string; command: string; arguments: string | null }[];
  author: string | null;
  description: string | null;
}
export interface TaskRun {
  startTime: string | null;
  endTime: string | null;
  result: string | null;
  message: string | null;
}

const text = Joi.string().allow('', null).required();
const word = Joi.string().allow('').required();

export const taskShape = named(
  'ScheduledTask',
  Joi.object<Task>({
    path: Joi.string().required(),
    name: word,
    folder: word,
    state: Joi.string().valid('ready', 'running', 'disabled', 'queued', 'unknown').required(),
    lastRunTime: text,
    lastRunResult: text,
    nextRunTime: text,
    triggers: Joi.array()
      .items(Joi.object({ type: word, schedule: word, enabled: Joi.boolean().required() }))
      .required(),
    actions: Joi.array()
      .items(Joi.object({ type: word, command: word, arguments: text }))
      .required()
      .description('Secrets in commands and arguments are left out for callers without devices:execute'),
    author: text,
    description: text,
  }),
);
export const runShape = named(
  'ScheduledTaskRun',
  Joi.object<TaskRun>({ startTime: text, endTime: text, result: text, message: text }),
);

export interface TaskQuery extends PageQuery {
  folder: string;
  search?: string;
}
export const taskQuery = Joi.object<TaskQuery>({
  ...pageQuery(50, 500),
  folder: Joi.string().max(512).default('\\').description('The folder whose tasks are meant'),
  search: Joi.string().trim().max(200).description('Part of the name'),
});
const path = Joi.string().max(512).description('The task with its folders, as the list shows it');
export const oneTask = Joi.object<{ deviceId: string; path: string }>({ deviceId, path: path.required() });
/** For proxies that take %2F for a slash: the path in the query counts before the one in the address. */
export const byQuery = {
  path: path.description('The path of the task, in place of the one in the address (write - there)'),
};
export interface HistoryQuery {
  path?: string;
  limit: number;
}

export const LIST_TASKS: Tool<Paged<Task>> = { type: 'tasks_list', group: 'tasks', result: shape(paged(taskShape)) };
export const GET_TASK: Tool<Task> = { type: 'task_get', group: 'tasks', result: shape(taskShape) };
export const TASK_HISTORY: Tool<{ items: TaskRun[] }> = {
  type: 'task_history',
  group: 'tasks',
  result: shape(Joi.object<{ items: TaskRun[] }>({ items: Joi.array().items(runShape).max(200).required() })),
};

export type TaskVerb = 'run' | 'enable' | 'disable';
interface TaskChange {
  path: string;
  note?: string;
}
const change = {
  group: 'tasks',
  result: shape(Joi.object<TaskChange>({ path: Joi.string().required(), note: Joi.string() })),
  mutates: true,
} as const;
export const CHANGE_TASK: Record<TaskVerb, Tool<TaskChange>> = {
  run: { ...change, type: 'task_run', audit: 'device.run_scheduled_task' },
  enable: { ...change, type: 'task_enable', audit: 'device.enable_scheduled_task' },
  disable: { ...change, type: 'task_disable', audit: 'device.disable_scheduled_task' },
};

export const taskChanged = named(
  'ScheduledTaskChanged',
  Joi.object({
    success: Joi.boolean().required(),
    path: Joi.string().required(),
    note: Joi.string(),
  }),
);
