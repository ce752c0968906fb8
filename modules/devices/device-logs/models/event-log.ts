/** What the operating system of a device reports. */
import Joi from 'joi';
import { named, type PageQuery, pageOf, pageQuery } from '#core';
import { cleaned, instant, label, metadata, open, plain } from './written-values.ts';

export const LEVELS = ['info', 'warning', 'error', 'critical'] as const;
export const CATEGORIES = ['security', 'hardware', 'application', 'system'] as const;
export const MOST_EVENTS = 5000;
/** Characters of a message that are kept; a longer one is cut, it does not fail the body. */
const KEPT_MESSAGE = 2000;
const MOST_MESSAGE = 100_000;

export interface EventEntry {
  timestamp: Date | string;
  level?: (typeof LEVELS)[number];
  category?: (typeof CATEGORIES)[number];
  source: string;
  eventId?: string | null;
  message: string;
  details?: Record<string, unknown> | null;
}

/** The whole text, or its beginning with a word about what is missing. */
function shortened(message: string): string {
  const whole = cleaned(message);
  if (whole.length <= KEPT_MESSAGE) return whole;
  return `${whole.slice(0, KEPT_MESSAGE - 40).toWellFormed()}…[truncated ${whole.length - KEPT_MESSAGE + 40} characters]`;
}

/** Windows counts its events, macOS and Linux name them; an empty id is none. */
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
  open<{ events: EventEntry[] }>({
    events: Joi.array()
      .max(MOST_EVENTS)
      .items(
        open<EventEntry>({
          timestamp: instant().required(),
          level: Joi.string()
            .valid(...LEVELS)
            .default('info'),
          category: Joi.string()
            .valid(...CATEGORIES)
            .default('application'),
          source: label(255).required(),
          eventId: osId,
          message: Joi.string().allow('').max(MOST_MESSAGE).custom(shortened).required(),
          details: metadata(),
        }),
      )
      .required(),
  }),
);

const EVENT: Record<keyof EventEntry, (value: unknown) => boolean> = {
  timestamp: plain.instant,
  level: (value) => (LEVELS as readonly unknown[]).includes(value),
  category: (value) => (CATEGORIES as readonly unknown[]).includes(value),
  source: (value) => plain.label(value, 255),
  eventId: (value) => plain.label(value, 100),
  message: (value) => plain.text(value, KEPT_MESSAGE),
  details: plain.metadata,
};
function isPlainEvent(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return false;
  const event = value as Record<string, unknown>;
  for (const key of ['timestamp', 'level', 'category', 'source', 'message']) if (!(key in event)) return false;
  for (const key in event) if (!Object.hasOwn(EVENT, key) || !EVENT[key as keyof EventEntry](event[key])) return false;
  return true;
}
/** True where the schema would let the body pass unchanged but for the kind of its times. */
export function isPlainEvents(body: unknown): body is { events: EventEntry[] } {
  if (body === null || typeof body !== 'object' || Object.keys(body).length !== 1) return false;
  const { events } = body as { events?: unknown };
  return Array.isArray(events) && events.length <= MOST_EVENTS && events.every(isPlainEvent);
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
    .valid(...CATEGORIES)
    .description('Only of this category'),
  level: Joi.string()
    .valid(...LEVELS)
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
        .valid(...LEVELS)
        .required(),
      category: Joi.string()
        .valid(...CATEGORIES)
        .required(),
      source: Joi.string().required(),
      eventId: Joi.string().allow(null).required(),
      message: Joi.string().allow('').required(),
      details: Joi.object().unknown().allow(null).required(),
      createdAt: Joi.date().iso().required(),
      occurrenceCount: Joi.number()
        .integer()
        .required()
        .description('How often the event came; 1 for one without an id'),
      lastOccurredAt: Joi.date().iso().required(),
      reportedAt: Joi.date()
        .iso()
        .allow(null)
        .required()
        .description('What the device said, where its clock was so wrong that timestamp is the time of arrival'),
    }),
  ),
);
