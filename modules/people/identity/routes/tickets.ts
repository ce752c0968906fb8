/** /auth/tickets: what a browser shows where it cannot send a header. */
import Joi from 'joi';
import { defineRoute, TICKET_PURPOSES, type TicketPurpose } from '#core';
import { newTicket } from '#core/auth';

export default [
  defineRoute({
    method: 'POST',
    path: '/auth/tickets',
    summary: 'Makes a ticket with which a browser opens a stream or a download',
    description:
      'Good once, within a minute, for one purpose, while the session lives; put it into the query as `ticket`. `events` opens GET /events, `audit.export` the download of an export.',
    access: { permission: null, why: 'the ticket opens no more than its caller may open', apiKey: false },
    audit: { none: 'it opens nothing by itself; what it opens is recorded as any other call' },
    work: { platform: 'the tenant role cannot write tickets; limited to the session of the caller' },
    payload: Joi.object<{ purpose: TicketPurpose }>({
      purpose: Joi.string()
        .valid(...TICKET_PURPOSES)
        .required(),
    }),
    response: Joi.object({ ticket: Joi.string().required(), expiresAt: Joi.date().iso().required() }),
    status: 201,
    limits: [{ name: 'tickets', max: 120, windowSeconds: 60, by: 'actor' }],
    handler: (ctx, { payload: { purpose } }) => newTicket(ctx, purpose),
  }),
];
