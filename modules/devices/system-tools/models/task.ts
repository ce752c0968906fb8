/** Scheduled tasks of a device, and the live tools for them. */
import Joi from 'joi';
import type { Paged, TaskChange, TaskItem, TaskRun, TaskVerb } from '#agent-protocol';
import { listed, paged, taskChange, taskRun as wireRun, taskShape as wireTask } from '#agent-protocol/schemas';
import { named, type PageQuery, pageQuery, searchText } from '#core';
import { shape, type Tool } from './tool.ts';
import { deviceId } from './tool-routes.ts';

export const taskShape = named('ScheduledTask', wireTask);
export const taskRun = named('ScheduledTaskRun', wireRun);

export interface TaskQuery extends PageQuery {
  folder: string;
  search?: string;
}
export const taskQuery = Joi.object<TaskQuery>({
  ...pageQuery(50, 500),
  folder: Joi.string().max(512).default('\\').description('The folder of the tasks'),
  search: searchText(200).description('Part of the name'),
});
const path = Joi.string().max(512).description('The path of the task, as in the list');
export const oneTask = Joi.object<{ deviceId: string; path: string }>({ deviceId, path: path.required() });
/** For proxies that decode %2F: the path in the query has precedence over the one in the URL. */
export const byQuery = {
  path: path.description('The path of the task, in place of the one in the URL (which is then -)'),
};
export interface HistoryQuery {
  path?: string;
  limit: number;
}

/** Maximum number of runs in a history. */
const MAX_RUNS = 200;

export const LIST_TASKS: Tool<Paged<TaskItem>> = {
  type: 'tasks_list',
  group: 'tasks',
  result: shape(paged(taskShape)),
};
export const GET_TASK: Tool<TaskItem> = { type: 'task_get', group: 'tasks', result: shape(taskShape) };
export const TASK_HISTORY: Tool<{ items: TaskRun[] }> = {
  type: 'task_history',
  group: 'tasks',
  result: shape(listed(taskRun, MAX_RUNS)),
};

const change = {
  group: 'tasks',
  result: shape(taskChange),
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
