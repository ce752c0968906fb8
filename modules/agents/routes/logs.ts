/** POST /agents/{id}/logs (spec/3-operations, Agent and device log endpoints). */
import Joi from 'joi';
import { defineRoute, type Input } from '#core';
import { type LogEntry, logsBody } from '../models/agent-log.ts';
import { agentLimits, agentParams, loggingRoles, stateRefusals } from '../models/agent-path.ts';
import { storeLogs } from '../services/agent-logs.ts';

export default [
  defineRoute({
    method: 'POST',
    path: '/agents/{id}/logs',
    summary: 'Stores up to 500 lines of the agent about itself',
    access: { agent: loggingRoles },
    audit: { none: 'the lines are a record themselves' },
    limits: agentLimits,
    params: agentParams,
    payload: logsBody,
    maxBytes: 10 * 1024 * 1024,
    response: Joi.object({ received: Joi.number().integer().required() }),
    status: 201,
    errors: stateRefusals,
    handler: (ctx, { payload }: Input<{ id: string }, unknown, { logs: LogEntry[] }>) => storeLogs(ctx, payload.logs),
  }),
];
