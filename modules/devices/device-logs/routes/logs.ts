/** POST /agents/{id}/logs: storing diagnostic logs of an agent. */
import Joi from 'joi';
import { defineRoute } from '#core';
import { isPlainLogs, logsBody } from '../models/agent-log.ts';
import { agentErrors, agentLimits, agentParams, logging, MAX_BODY_BYTES } from '../models/agent-path.ts';
import { storeLogs } from '../services/agent-logs.ts';

export default [
  defineRoute({
    method: 'POST',
    path: '/agents/{id}/logs',
    summary: 'Stores up to 500 lines of the diagnostic log of an agent',
    description: 'The body may have Content-Encoding: gzip; its size limit applies after inflation.',
    access: { agent: logging },
    audit: { none: 'the lines are a record themselves' },
    limits: agentLimits,
    params: agentParams,
    payload: logsBody,
    plain: isPlainLogs,
    maxBytes: MAX_BODY_BYTES,
    response: Joi.object({ received: Joi.number().integer().required() }),
    status: 201,
    errors: agentErrors,
    handler: (ctx, { payload }) => storeLogs(ctx, payload.logs),
  }),
];
