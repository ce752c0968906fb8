/** Event logs as a device keeps them. */
import Joi from 'joi';
import { named, type PageQuery, pageQuery } from '#core';
import { shape, type Tool } from './tool.ts';
import { deviceId, type Paged, paged } from './tool-routes.ts';

export interface EventLog {
  name: string;
  displayName: string;
  recordCount: number | null;
  maxSize: number | null;
  retentionDays: number | null;
  lastWriteTime: string | null;
}
/** As the agent words it. */
export interface AgentEvent {
  recordId: string;
  timestamp: string;
  level: keyof typeof SHOWN_LEVELS;
  source: string;
  eventId: string | null;
  message: string;
  computer: string | null;
  user: string | null;
}

/** The API's words for levels, by those of agents. */
export const SHOWN_LEVELS = {
  critical: 'critical',
  error: 'error',
  warning: 'warning',
  info: 'information',
  debug: 'verbose',
} as const;
export type ShownLevel = (typeof SHOWN_LEVELS)[keyof typeof SHOWN_LEVELS];
const levels = Object.values(SHOWN_LEVELS);

const number = Joi.number().integer().allow(null).required();
const text = Joi.string().allow('', null).required();

export const logShape = named(
  'EventLog',
  Joi.object<EventLog>({
    name: Joi.string().required(),
    displayName: Joi.string().allow('').required(),
    recordCount: number,
    maxSize: number.description('Bytes'),
    retentionDays: number,
    lastWriteTime: Joi.string().allow(null).required(),
  }),
);
const agentEvent = Joi.object<AgentEvent>({
  recordId: Joi.string().required(),
  timestamp: Joi.string().required(),
  level: Joi.string()
    .valid(...Object.keys(SHOWN_LEVELS))
    .required(),
  source: Joi.string().allow('').required(),
  eventId: text,
  message: Joi.string().allow('').required(),
  computer: text,
  user: text,
});
const id = Joi.alternatives(Joi.number().integer(), Joi.string());
export const eventShape = named(
  'EventLogEntry',
  Joi.object({
    recordId: id.required().description('A number where the system numbers its records, else its own word for a place'),
    timeCreated: Joi.string().required(),
    level: Joi.string()
      .valid(...levels)
      .required(),
    source: Joi.string().allow('').required(),
    eventId: id.allow(null).required(),
    message: Joi.string().allow('').required(),
    user: text,
    computer: text,
  }),
);
export const eventDetail = named(
  'EventLogEntryDetail',
  eventShape.keys({
    category: text,
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
  eventId: Joi.string().max(100).description('A number as text, or what the system identifies its events by'),
});

export const LIST_LOGS: Tool<{ items: EventLog[] }> = {
  type: 'event_logs_list',
  group: 'eventlogs',
  result: shape(Joi.object<{ items: EventLog[] }>({ items: Joi.array().items(logShape).required() })),
};
export const QUERY_EVENTS: Tool<Paged<AgentEvent>> = {
  type: 'event_logs_query',
  group: 'eventlogs',
  result: shape(paged(agentEvent)),
};
export const GET_EVENT: Tool<AgentEvent & { details: Record<string, string> }> = {
  type: 'event_log_get',
  group: 'eventlogs',
  result: shape(
    agentEvent.append<AgentEvent & { details: Record<string, string> }>({
      details: Joi.object().pattern(Joi.string(), Joi.string().allow('')).required(),
    }),
  ),
};
