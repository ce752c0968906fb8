/** An event as core records it with the change that caused it, and the query of its stream. */
import Joi from 'joi';
import { Model, type PageQuery, pageQuery, type TicketQuery, ticketQuery } from '#core';

export class EventRecord extends Model {
  static override tableName = 'events';
  static override siteColumn = 'site_id';
  static override deviceColumn = 'device_id';
  static override jsonAttributes = ['actor', 'data'];
  declare id: string;
  declare name: string;
  declare orgId: string;
  declare siteId: string | null;
  declare deviceId: string | null;
  declare occurredAt: Date;
  declare actor: { kind: string; id: string | null };
  declare data: unknown;
  declare correlationId: string | null;
  declare causationId: string | null;
  declare depth: number;
  declare causedBy: string[];
  declare xid: string;
  declare seq: string | number;
}

export interface EventFilter {
  orgId?: string;
  types?: string[];
  lastEventId?: string;
}
export interface HistoryQuery extends EventFilter, PageQuery {
  correlationId?: string;
  sortDir: 'asc' | 'desc';
}

const types = Joi.string()
  .max(2000)
  .custom((text: string) => text.split(',').map((part) => part.trim()))
  .description('Kinds (device.online) and families (device.*), separated by commas');
const filter = {
  orgId: Joi.string().uuid(),
  types,
  lastEventId: Joi.string()
    .max(60)
    .description('The id of an event of the stream, or of a message: returns what follows it'),
};
export const streamQuery = Joi.object<EventFilter & TicketQuery>({ ...filter, ...ticketQuery });
export const historyQuery = Joi.object<HistoryQuery>({
  ...pageQuery(50, 500),
  ...filter,
  correlationId: Joi.string().uuid().description('Only events of this chain, as `correlationId` of an event names it'),
  sortDir: Joi.string().valid('asc', 'desc').default('asc').description('Oldest or newest first'),
});

export const messageShape = Joi.object({
  id: Joi.string().uuid().required(),
  type: Joi.string().required(),
  timestamp: Joi.date().iso().required(),
  apiVersion: Joi.string().required(),
  orgId: Joi.string().uuid().required(),
  correlationId: Joi.string().uuid().required().description('The same for all that follows from one request or report'),
  causationId: Joi.string().uuid().allow(null).required().description('The event that led to it'),
  depth: Joi.number().integer().min(0).required().description('How many events led here, one by the other'),
  data: Joi.object().unknown().required(),
});
