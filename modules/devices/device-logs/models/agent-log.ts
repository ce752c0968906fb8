/** Lines of diagnostic logs. */
import Joi from 'joi';
import { LOG_LEVELS, type LogEntry, MAX_LOG_LINES } from '#agent-protocol';
import { named, pageQuery, searchText } from '#core';
import { instant, label, metadata, open, plain, text } from './written-values.ts';

const MAX_MESSAGE_CHARACTERS = 100_000;

/** A line after validation. Its time is still text if the schema was skipped. */
export type ReceivedLogEntry = LogEntry<Date | string>;

export const logsBody = named(
  'AgentLogs',
  open<{ logs: ReceivedLogEntry[] }>({
    logs: Joi.array()
      .max(MAX_LOG_LINES)
      .items(
        open<ReceivedLogEntry>({
          timestamp: instant().required(),
          level: Joi.string()
            .valid(...LOG_LEVELS)
            .required(),
          component: label(100).required(),
          message: text(MAX_MESSAGE_CHARACTERS).required(),
          fields: metadata(),
          agentVersion: text(50).allow(null),
        }),
      )
      .required(),
  }),
);

const LINE: Record<keyof LogEntry, (value: unknown) => boolean> = {
  timestamp: plain.instant,
  level: (value) => (LOG_LEVELS as readonly unknown[]).includes(value),
  component: (value) => plain.label(value, 100),
  message: (value) => plain.text(value, MAX_MESSAGE_CHARACTERS),
  fields: plain.metadata,
  agentVersion: (value) => plain.text(value, 50),
};
function isPlainLine(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return false;
  const line = value as Record<string, unknown>;
  if (!('timestamp' in line && 'level' in line && 'component' in line && 'message' in line)) return false;
  for (const key in line) if (!Object.hasOwn(LINE, key) || !LINE[key as keyof LogEntry](line[key])) return false;
  return true;
}
/** True if the schema would not change the body except for the type of its times. */
export function isPlainLogs(body: unknown): body is { logs: ReceivedLogEntry[] } {
  if (body === null || typeof body !== 'object' || Object.keys(body).length !== 1) return false;
  const { logs } = body as { logs?: unknown };
  return Array.isArray(logs) && logs.length <= MAX_LOG_LINES && logs.every(isPlainLine);
}

export interface LogQuery {
  level?: string;
  component?: string;
  since?: Date;
  until?: Date;
  search?: string;
  page?: number;
  limit: number;
  cursor?: string;
}
const { page, limit } = pageQuery(100, 1000);
/** `level` is a list with commas; a limit above 1,000 counts as 1,000. */
export const logQuery = Joi.object<LogQuery>({
  level: Joi.string()
    .pattern(/^(debug|info|warn|error)(,(debug|info|warn|error))*$/)
    .max(100)
    .description('debug, info, warn, error; several separated by commas'),
  component: Joi.string().max(100).description('Only of this part of the agent'),
  since: Joi.date().iso().min('0001-01-02').max('9999-12-31').description('Earliest time, inclusive'),
  until: Joi.date().iso().min('0001-01-02').max('9999-12-31').description('Latest time, inclusive'),
  search: searchText(200).description('Part of the message, ignoring case'),
  page,
  limit,
  cursor: Joi.string()
    .allow('')
    .max(1000)
    .description('Position from the previous page, empty for the first; the answer then has the cursor form'),
})
  .oxor('page', 'cursor')
  .messages({ 'object.oxor': 'page and cursor are two forms of this list and cannot be used together' });

const line = Joi.object({
  id: Joi.string().uuid().required(),
  deviceId: Joi.string().uuid().required(),
  orgId: Joi.string().uuid().required(),
  timestamp: Joi.date().iso().required(),
  level: Joi.string()
    .valid(...LOG_LEVELS)
    .required(),
  component: Joi.string().required(),
  message: Joi.string().allow('').required(),
  fields: Joi.object().unknown().allow(null).required(),
  agentVersion: Joi.string().allow(null, '').required(),
  createdAt: Joi.date().iso().required(),
  reportedAt: Joi.date()
    .iso()
    .allow(null)
    .required()
    .description('The time that the device reported, if it was implausible and timestamp is the time of arrival'),
});
/** The page form is specific to this list; the cursor form is that of all lists. */
export const logPage = named(
  'DiagnosticLogPage',
  Joi.alternatives(
    Joi.object({
      logs: Joi.array().items(line).required(),
      total: Joi.number().integer().required(),
      limit: Joi.number().integer().required(),
      offset: Joi.number().integer().required(),
    }),
    Joi.object({
      data: Joi.array().items(line).required(),
      pagination: Joi.object({
        hasMore: Joi.boolean().required(),
        cursor: Joi.string().allow(null).required(),
      }).required(),
    }),
  ),
);
