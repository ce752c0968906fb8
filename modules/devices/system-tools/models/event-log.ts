/** Event logs of a device, and the live tools for them. */
import Joi from 'joi';
import type { EventDetail, EventItem, EventItemLevel, EventLogItem, Paged } from '#agent-protocol';
import {
  eventItem,
  eventItemDetail,
  listed,
  optionalText,
  paged,
  eventLogShape as wireLog,
} from '#agent-protocol/schemas';
import { named, type PageQuery, pageQuery } from '#core';
import { shape, type Tool } from './tool.ts';
import { deviceId } from './tool-routes.ts';

/** The levels of agents and their names in the API. */
export const SHOWN_LEVELS = {
  critical: 'critical',
  error: 'error',
  warning: 'warning',
  info: 'information',
  debug: 'verbose',
} as const satisfies Record<EventItemLevel, string>;
export type ShownLevel = (typeof SHOWN_LEVELS)[keyof typeof SHOWN_LEVELS];
const levels = Object.values(SHOWN_LEVELS);

export const eventLogShape = named('EventLog', wireLog);

const id = Joi.alternatives(Joi.number().integer(), Joi.string());
export const eventShape = named(
  'EventLogEntry',
  Joi.object({
    recordId: id
      .required()
      .description('A number where the system numbers its records, else its own text for a position'),
    timeCreated: Joi.string().required(),
    level: Joi.string()
      .valid(...levels)
      .required(),
    source: Joi.string().allow('').required(),
    category: optionalText().description('A facility of syslog, a task of Windows or a category of macOS'),
    eventId: id.allow(null).required(),
    message: Joi.string().allow('').required(),
    user: optionalText(),
    computer: optionalText(),
  }),
);
export const eventDetail = named(
  'EventLogEntryDetail',
  eventShape.keys({
    details: Joi.object().unknown().required(),
    rawXml: Joi.string(),
  }),
);

export const oneLog = Joi.object<{ deviceId: string; name: string }>({
  deviceId,
  name: Joi.string().max(512).required(),
});
export const oneEvent = oneLog.append<{ deviceId: string; name: string; recordId: string }>({
  recordId: Joi.string().max(512).required(),
});
export interface EventQuery extends PageQuery {
  level?: ShownLevel;
  source?: string;
  startTime?: Date;
  endTime?: Date;
  eventId?: string;
}
export const eventQuery = Joi.object<EventQuery>({
  ...pageQuery(50, 500),
  level: Joi.string()
    .valid(...levels)
    .description('Only of this level'),
  source: Joi.string().max(256).description('Only of this source'),
  startTime: Joi.date().iso().description('Earliest time, inclusive'),
  endTime: Joi.date().iso().description('Latest time, inclusive'),
  eventId: Joi.string().max(100).description('A number as text, or another id of the system'),
});

export const LIST_LOGS: Tool<{ items: EventLogItem[] }> = {
  type: 'event_logs_list',
  group: 'eventlogs',
  result: shape(listed(eventLogShape)),
};
export const QUERY_EVENTS: Tool<Paged<EventItem>> = {
  type: 'event_logs_query',
  group: 'eventlogs',
  result: shape(paged(eventItem)),
};
export const GET_EVENT: Tool<EventDetail> = {
  type: 'event_log_get',
  group: 'eventlogs',
  result: shape(eventItemDetail),
};
