/** GET /devices/{id}/diagnostic-logs: the diagnostic logs of agents. */
import { defineRoute } from '#core';
import { logPage, logQuery } from '../models/agent-log.ts';
import { deviceParams } from '../models/agent-path.ts';
import { listLogs } from '../services/agent-logs.ts';

export default [
  defineRoute({
    method: 'GET',
    path: '/devices/{id}/diagnostic-logs',
    summary: 'Lists the diagnostic log of the agent of a device, newest first',
    access: { permission: 'devices:read' },
    params: deviceParams,
    query: logQuery,
    response: logPage,
    errors: ['NOT_FOUND', 'INVALID_CURSOR'],
    handler: (ctx, { params: { id }, query }) => listLogs(ctx, id, query),
  }),
];
