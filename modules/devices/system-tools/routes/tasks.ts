/** /system-tools/devices/{deviceId}/tasks: listing, running, enabling and disabling scheduled tasks. */

import Joi from 'joi';
import { type AnyRoute, defineRoute } from '#core';
import { byQuery, type HistoryQuery, oneTask, taskChanged, taskQuery, taskRun, taskShape } from '../models/task.ts';
import {
  allOf,
  changeAccess,
  changeErrors,
  listOf,
  onDevice,
  oneOf,
  readAccess,
  readErrors,
} from '../models/tool-routes.ts';
import { changeTask, listTasks, readTask, taskHistory } from '../services/tasks.ts';

const base = '/system-tools/devices/{deviceId}/tasks';
const look = { method: 'GET', access: readAccess, work: 'none', errors: readErrors } as const;
const clamped = (value: number) => Math.min(200, Math.max(1, value));

export default [
  defineRoute({
    ...look,
    path: base,
    summary: 'Lists the scheduled tasks in a folder of a device',
    params: onDevice,
    query: taskQuery,
    response: listOf(taskShape),
    handler: (ctx, input) => listTasks(ctx, input),
  }),
  defineRoute({
    ...look,
    path: `${base}/{path}`,
    summary: 'Reads a scheduled task of a device',
    params: oneTask,
    query: Joi.object<{ path?: string }>(byQuery),
    response: oneOf(taskShape),
    handler: (ctx, input) => readTask(ctx, input),
  }),
  defineRoute({
    ...look,
    path: `${base}/{path}/history`,
    summary: 'Lists the last runs of a scheduled task of a device',
    params: oneTask,
    query: Joi.object<HistoryQuery>({
      ...byQuery,
      limit: Joi.number().unsafe().integer().custom(clamped).default(50).description('1 to 200'),
    }),
    response: allOf(taskRun),
    handler: (ctx, input) => taskHistory(ctx, input),
  }),
  ...(['run', 'enable', 'disable'] as const).map(
    (verb): AnyRoute =>
      defineRoute({
        method: 'POST',
        path: `${base}/{path}/${verb}`,
        summary: `${{ run: 'Starts', enable: 'Enables', disable: 'Disables' }[verb]} a scheduled task of a device`,
        access: changeAccess,
        work: 'none',
        idempotent: 'handler',
        audit: `device.${verb}_scheduled_task`,
        params: oneTask,
        query: Joi.object<{ path?: string }>(byQuery),
        response: taskChanged,
        errors: changeErrors,
        handler: (ctx, input) => changeTask(ctx, verb, input),
      }),
  ),
];
