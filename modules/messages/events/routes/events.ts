/** /events and /events/history: events of a tenant, in the form of webhook messages. */
import Joi from 'joi';
import { defineRoute, pageOf } from '#core';
import { historyQuery, messageShape, streamQuery } from '../models/event-record.ts';
import { listHistory } from '../services/histories.ts';
import { follow } from '../services/streams.ts';

const access = { permission: 'organizations:read' };

export default [
  defineRoute({
    method: 'GET',
    path: '/events',
    summary: 'Follows events as server-sent events',
    description:
      'The data of each is the message that a webhook receives. Send the last id as Last-Event-ID, or as lastEventId, to resume after it without loss or repetition; without an id only new events are sent. 410 means that the events after the id are no longer kept. A comment is sent every 15 seconds.',
    access: { ...access, ticket: 'events' },
    query: streamQuery,
    response: Joi.object(),
    produces: ['text/event-stream'],
    errors: ['INVALID_CURSOR', 'CURSOR_EXPIRED', 'UNKNOWN_EVENT', 'TOO_MANY_STREAMS', 'ORG_ACCESS_DENIED', 'NOT_FOUND'],
    work: 'none',
    handler: (ctx, { query, headers }) => follow(ctx, query, headers['last-event-id'] || query.lastEventId),
  }),
  defineRoute({
    method: 'GET',
    path: '/events/history',
    summary: 'Lists the events of the last thirty days in order',
    access,
    query: historyQuery,
    response: pageOf(messageShape),
    errors: ['INVALID_CURSOR', 'CURSOR_EXPIRED', 'UNKNOWN_EVENT', 'ORG_ACCESS_DENIED', 'NOT_FOUND'],
    handler: (ctx, { query }) => listHistory(ctx, query),
  }),
];
