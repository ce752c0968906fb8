/** /system-tools/devices/{deviceId}/processes: listing and ending processes. */

import Joi from 'joi';
import { defineRoute } from '#core';
import { kill, oneProcess, processDetail, processQuery, processShape } from '../models/process.ts';
import { changeAccess, changeErrors, listOf, onDevice, oneOf, readAccess, readErrors } from '../models/tool-routes.ts';
import { killProcess, listProcesses, readProcess } from '../services/processes.ts';

const base = '/system-tools/devices/{deviceId}/processes';

export default [
  defineRoute({
    method: 'GET',
    path: base,
    summary: 'Lists the running processes of a device',
    access: readAccess,
    work: 'none',
    params: onDevice,
    query: processQuery,
    response: listOf(processShape),
    errors: readErrors,
    handler: (ctx, input) => listProcesses(ctx, input),
  }),
  defineRoute({
    method: 'GET',
    path: `${base}/{pid}`,
    summary: 'Reads a process of a device',
    access: readAccess,
    work: 'none',
    params: oneProcess,
    response: oneOf(processDetail),
    errors: readErrors,
    handler: (ctx, input) => readProcess(ctx, input),
  }),
  defineRoute({
    method: 'POST',
    path: `${base}/{pid}/kill`,
    summary: 'Ends a process of a device',
    description: 'Its child processes are not ended. The agent and its parent processes are protected.',
    access: changeAccess,
    work: 'none',
    idempotent: 'handler',
    audit: 'device.kill_process',
    params: oneProcess,
    payload: kill.allow(null),
    response: Joi.object({ success: Joi.boolean().required(), pid: Joi.number().integer().required() }),
    errors: changeErrors,
    handler: (ctx, input) => killProcess(ctx, input),
  }),
];
