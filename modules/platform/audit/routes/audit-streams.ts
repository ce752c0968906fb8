/** /audit-logs/stream: the trail as it grows, for a SIEM. */
import Joi from 'joi';
import { defineRoute } from '#core';
import { streamQuery } from '../models/audit-stream.ts';
import { follow } from '../services/live/streams.ts';

export default [
  defineRoute({
    method: 'GET',
    path: '/audit-logs/stream',
    summary: 'Follows the audit trail as server-sent events',
    description:
      'Events `audit`, whose id is the position of the entry. Send the last one as Last-Event-ID to go on behind it, without loss and without repeats. A comment comes every 15 seconds. At most 5 streams a tenant.',
    access: { permission: 'audit:read' },
    query: streamQuery,
    response: Joi.object(),
    produces: ['text/event-stream'],
    errors: ['INVALID_CURSOR', 'TOO_MANY_STREAMS'],
    work: 'none',
    handler: (ctx, { query, headers }) => follow(ctx, query, headers['last-event-id'] || query.lastEventId),
  }),
];
