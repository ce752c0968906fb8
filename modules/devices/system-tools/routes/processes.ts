/** /system-tools/devices/{deviceId}/processes: listing and ending processes. */

import Joi from 'joi';
import { defineRoute } from '#core';
import { kill, oneProcess, processDetail, processQuery, processShape } from '../models/process.ts';
import { actErrors, acting, listOf, lookErrors, looking, onDevice, oneOf } from '../models/tool-routes.ts';
import { killProcess, listProcesses, readProcess } from '../services/processes.ts';

const base = '/system-tools/devices/{deviceId}/processes';

export default [
  defineRoute({
    method: 'GET',
    path: base,
    summary: 'Lists the processes that run on a device now',
    access: looking,
    work: 'none',
    params: onDevice,
    query: processQuery,
    response: listOf(processShape),
    errors: lookErrors,
    handler: (ctx, input) => listProcesses(ctx, input),
  }),
  defineRoute({
    method: 'GET',
    path: `${base}/{pid}`,
    summary: 'Reads a process of a device',
    access: looking,
    work: 'none',
    params: oneProcess,
    response: oneOf(processDetail),
    errors: lookErrors,
    handler: (ctx, input) => readProcess(ctx, input),
  }),
  defineRoute({
    method: 'POST',
    path: `${base}/{pid}/kill`,
    summary: 'Ends a process of a device',
    description: 'Processes it has started are left alone. The agent and what it runs in are refused.',
    access: acting,
    work: 'none',
    idempotent: 'handler',
    audit: 'device.kill_process',
    params: oneProcess,
    payload: kill.allow(null),
    response: Joi.object({ success: Joi.boolean().required(), pid: Joi.number().integer().required() }),
    errors: actErrors,
    handler: (ctx, input) => killProcess(ctx, input),
  }),
];
