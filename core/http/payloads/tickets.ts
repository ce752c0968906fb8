/** The ticket in the query of what browsers open without a header. */
import Joi from 'joi';

export interface TicketQuery {
  ticket?: string;
}

/** Part of the query of a route whose access takes tickets; the handler does not see it. */
export const ticketQuery = {
  ticket: Joi.string()
    .max(200)
    .pattern(/^tkt_[\w-]+$/, 'a ticket')
    .strip()
    .description(
      'A ticket of POST /auth/tickets, in place of the header: for browsers, which open streams and downloads without one',
    ),
};
