/** Events of the operating system of a device. */
import Joi from 'joi';

import { EVENT_CATEGORIES, EVENT_LEVELS, MAX_SYSTEM_EVENTS, type SystemEvent } from '#agent-protocol';
import { named, type PageQuery, pageOf, pageQuery } from '#core';

import { cleaned, instant, label, metadata, open, plain } from './written-values.ts';

/** Maximum characters of a message; a longer one is truncated and does not fail the body. */
const STORED_MESSAGE_CHARACTERS = 2000;
const MAX_MESSAGE_CHARACTERS = 100_000;

/** An event after validation. Its time is still text if the schema was skipped. */
export type ReceivedEvent = SystemEvent<Date | string>;

/** The whole text, or its beginning with a note that it was truncated. */
function shortened(message: string): string {
  const whole = cleaned(message);
  if (whole.length <= STORED_MESSAGE_CHARACTERS) return whole;
  return `${whole.slice(0, STORED_MESSAGE_CHARACTERS - 40).toWellFormed()}…[truncated ${whole.length - STORED_MESSAGE_CHARACTERS + 40} characters]`;
}

/** Windows numbers its events, macOS and Linux name them; an empty id counts as none. */
const osId = Joi.alternatives(
  Joi.string()
    .trim()
    .allow('', null)
    .max(100)
    .custom((value: string) => cleaned(value).trim()),
  Joi.number()
    .integer()
    .custom((value: number) => String(value)),
);

export const eventsBody = named(
  'AgentEventLogs',
  open<{ events: ReceivedEvent[] }>({
    events: Joi.array()
      .max(MAX_SYSTEM_EVENTS)
      .items(
        open<ReceivedEvent>({
          timestamp: instant().required(),
          level: Joi.string()
            .valid(...EVENT_LEVELS)
            .default('info'),
          category: Joi.string()
            .valid(...EVENT_CATEGORIES)
            .default('application'),
          source: label(255).required(),
          eventId: osId,
          message: Joi.string().allow('').max(MAX_MESSAGE_CHARACTERS).custom(shortened).required(),
          details: metadata(),
        }),
      )
      .required(),
  }),
);

const EVENT: Record<keyof ReceivedEvent, (value: unknown) => boolean> = {
  timestamp: plain.instant,
  level: (value) => (EVENT_LEVELS as readonly unknown[]).includes(value),
  category: (value) => (EVENT_CATEGORIES as readonly unknown[]).includes(value),
  source: (value) => plain.label(value, 255),
  eventId: (value) => plain.label(value, 100),
  message: (value) => plain.text(value, STORED_MESSAGE_CHARACTERS),
  details: plain.metadata,
};
function isPlainEvent(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return false;
  const event = value as Record<string, unknown>;
  for (const key of ['timestamp', 'level', 'category', 'source', 'message']) if (!(key in event)) return false;
  for (const key in event)
    if (!Object.hasOwn(EVENT, key) || !EVENT[key as keyof ReceivedEvent](event[key])) return false;
  return true;
}
/** True if the schema would not change the body except for the type of its times. */
export function isPlainEvents(body: unknown): body is { events: ReceivedEvent[] } {
  if (body === null || typeof body !== 'object' || Object.keys(body).length !== 1) return false;
  const { events } = body as { events?: unknown };
  return Array.isArray(events) && events.length <= MAX_SYSTEM_EVENTS && events.every(isPlainEvent);
}

export interface EventQuery extends PageQuery {
  category?: string;
  level?: string;
  source?: string;
  startDate?: Date;
  endDate?: Date;
}
export const eventQuery = Joi.object<EventQuery>({
  ...pageQuery(100, 500),
  category: Joi.string()
    .valid(...EVENT_CATEGORIES)
    .description('Only of this category'),
  level: Joi.string()
    .valid(...EVENT_LEVELS)
    .description('Only of this level'),
  source: Joi.string().max(255).description('Only of this source, as the machine names it'),
  startDate: Joi.date().iso().min('0001-01-02').max('9999-12-31').description('Earliest time, inclusive'),
  endDate: Joi.date().iso().min('0001-01-02').max('9999-12-31').description('Latest time, inclusive'),
})
  .oxor('page', 'cursor')
  .messages({ 'object.oxor': 'page and cursor are two forms of this list and cannot be used together' });

export const eventPage = named(
  'DeviceEventLogPage',
  pageOf(
    Joi.object({
      id: Joi.string().uuid().required(),
      deviceId: Joi.string().uuid().required(),
      orgId: Joi.string().uuid().required(),
      timestamp: Joi.date().iso().required(),
      level: Joi.string()
        .valid(...EVENT_LEVELS)
        .required(),
      category: Joi.string()
        .valid(...EVENT_CATEGORIES)
        .required(),
      source: Joi.string().required(),
      eventId: Joi.string().allow(null).required(),
      message: Joi.string().allow('').required(),
      details: Joi.object().unknown().allow(null).required(),
      createdAt: Joi.date().iso().required(),
      occurrenceCount: Joi.number()
        .integer()
        .required()
        .description('Number of occurrences; 1 for an event without an id'),
      lastOccurredAt: Joi.date().iso().required(),
      reportedAt: Joi.date()
        .iso()
        .allow(null)
        .required()
        .description('The time that the device reported, if it was implausible and timestamp is the time of arrival'),
    }),
  ),
);
