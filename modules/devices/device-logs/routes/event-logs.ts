/** PUT /agents/{id}/eventlogs and GET /devices/{id}/eventlogs: event logs of the operating system, in and out. */
import Joi from 'joi';
import { defineRoute } from '#core';
import { agentErrors, agentLimits, agentParams, deviceParams, MOST_BYTES, mainAgent } from '../models/agent-path.ts';
import { eventPage, eventQuery, eventsBody, isPlainEvents } from '../models/event-log.ts';
import { listEvents } from '../services/event-lists.ts';
import { submitEvents } from '../services/event-logs.ts';

export default [
  defineRoute({
    method: 'PUT',
    path: '/agents/{id}/eventlogs',
    summary: 'Stores up to 5,000 events of the operating system',
    description: 'The body may come with Content-Encoding: gzip; its bound counts after inflation.',
    access: { agent: mainAgent },
    audit: 'agent.eventlogs.submit',
    limits: agentLimits,
    params: agentParams,
    payload: eventsBody,
    plain: isPlainEvents,
    maxBytes: MOST_BYTES,
    response: Joi.object({
      success: Joi.valid(true).required(),
      count: Joi.number().integer().required().description('Events that were not known before'),
    }),
    errors: [...agentErrors, 'TENANT_INACTIVE'],
    handler: (ctx, { payload }) => submitEvents(ctx, payload.events),
  }),
  defineRoute({
    method: 'GET',
    path: '/devices/{id}/eventlogs',
    summary: 'Lists what the operating system of a device reported, by last occurrence, newest first',
    access: { permission: 'devices:read' },
    params: deviceParams,
    query: eventQuery,
    response: eventPage,
    errors: ['NOT_FOUND', 'INVALID_CURSOR'],
    handler: (ctx, { params: { id }, query }) => listEvents(ctx, id, query),
  }),
];
