/** /events and /events/history: what happens in a tenant, in the form of webhook messages. */
import Joi from 'joi';
import { defineRoute, pageOf } from '#core';
import { type EventFilter, historyQuery, messageShape, streamQuery } from '../models/event-record.ts';
import { listHistory } from '../services/histories.ts';
import { follow } from '../services/streams.ts';

const access = { permission: 'organizations:read' };

export default [
  defineRoute({
    method: 'GET',
    path: '/events',
    summary: 'Follows events as server-sent events',
    description:
      'The data of each is the message that a webhook would get. Send the last id as Last-Event-ID, or as lastEventId, to go on behind it, without loss and without repeats; without one only new events come. 410 says that events behind the id are not kept any more. A comment comes every 15 seconds.',
    access,
    query: streamQuery,
    response: Joi.object(),
    produces: ['text/event-stream'],
    errors: ['INVALID_CURSOR', 'CURSOR_EXPIRED', 'UNKNOWN_EVENT', 'TOO_MANY_STREAMS', 'ORG_ACCESS_DENIED', 'NOT_FOUND'],
    work: 'none',
    handler: (ctx, { query, headers }: { query: EventFilter; headers: Record<string, string | undefined> }) =>
      follow(ctx, query, headers['last-event-id'] || query.lastEventId),
  }),
  defineRoute({
    method: 'GET',
    path: '/events/history',
    summary: 'Lists the events of the last thirty days, in their order',
    access,
    query: historyQuery,
    response: pageOf(messageShape),
    errors: ['INVALID_CURSOR', 'CURSOR_EXPIRED', 'UNKNOWN_EVENT', 'ORG_ACCESS_DENIED', 'NOT_FOUND'],
    handler: (ctx, { query }) => listHistory(ctx, query),
  }),
];
