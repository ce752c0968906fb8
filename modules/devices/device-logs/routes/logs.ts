/** POST /agents/{id}/logs: lines that an agent writes about itself. */
import Joi from 'joi';
import { defineRoute } from '#core';
import { isPlainLogs, logsBody } from '../models/agent-log.ts';
import { agentErrors, agentLimits, agentParams, logging, MOST_BYTES } from '../models/agent-path.ts';
import { storeLogs } from '../services/agent-logs.ts';

export default [
  defineRoute({
    method: 'POST',
    path: '/agents/{id}/logs',
    summary: 'Stores up to 500 lines of the agent about itself',
    description: 'The body may come with Content-Encoding: gzip; its bound counts after inflation.',
    access: { agent: logging },
    audit: { none: 'the lines are a record themselves' },
    limits: agentLimits,
    params: agentParams,
    payload: logsBody,
    plain: isPlainLogs,
    maxBytes: MOST_BYTES,
    response: Joi.object({ received: Joi.number().integer().required() }),
    status: 201,
    errors: agentErrors,
    handler: (ctx, { payload }) => storeLogs(ctx, payload.logs),
  }),
];
