/** PUT /agents/{id}/eventlogs and GET /devices/{id}/eventlogs: storing and listing event logs of the operating system. */
import Joi from 'joi';
import { defineRoute } from '#core';
import {
  agentErrors,
  agentLimits,
  agentParams,
  deviceParams,
  MAX_BODY_BYTES,
  mainAgent,
} from '../models/agent-path.ts';
import { eventPage, eventQuery, eventsBody, isPlainEvents } from '../models/event-log.ts';
import { listEvents } from '../services/event-lists.ts';
import { submitEvents } from '../services/event-logs.ts';

export default [
  defineRoute({
    method: 'PUT',
    path: '/agents/{id}/eventlogs',
    summary: 'Stores up to 5,000 events of the operating system',
    description: 'The body may have Content-Encoding: gzip; its size limit applies after inflation.',
    access: { agent: mainAgent },
    audit: 'agent.eventlogs.submit',
    limits: agentLimits,
    params: agentParams,
    payload: eventsBody,
    plain: isPlainEvents,
    maxBytes: MAX_BODY_BYTES,
    response: Joi.object({
      success: Joi.valid(true).required(),
      count: Joi.number().integer().required().description('Number of new events'),
    }),
    errors: [...agentErrors, 'TENANT_INACTIVE'],
    handler: (ctx, { payload }) => submitEvents(ctx, payload.events),
  }),
  defineRoute({
    method: 'GET',
    path: '/devices/{id}/eventlogs',
    summary: 'Lists events of the operating system of a device by last occurrence, newest first',
    access: { permission: 'devices:read' },
    params: deviceParams,
    query: eventQuery,
    response: eventPage,
    errors: ['NOT_FOUND', 'INVALID_CURSOR'],
    handler: (ctx, { params: { id }, query }) => listEvents(ctx, id, query),
  }),
];
