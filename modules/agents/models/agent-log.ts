/** Lines that agents write about themselves (spec/3-operations, Agent diagnostic log). */
import Joi from 'joi';
import { instant, label, open, text } from './wire-values.ts';

export interface LogEntry {
  timestamp: Date;
  level: 'debug' | 'info' | 'warn' | 'error';
  component: string;
  message: string;
  fields?: Record<string, unknown>;
  agentVersion?: string;
}

export const logsBody = open<{ logs: LogEntry[] }>({
  logs: Joi.array()
    .max(500)
    .items(
      open<LogEntry>({
        timestamp: instant().required(),
        level: Joi.string().valid('debug', 'info', 'warn', 'error').required(),
        component: label(100).required(),
        message: text(100_000).required(),
        fields: Joi.object().unknown(),
        agentVersion: text(50),
      }),
    )
    .required(),
});

export const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export const MOST_LISTED = 1000;

export interface LogQuery {
  level?: string;
  component?: string;
  since?: Date;
  until?: Date;
  search?: string;
  page: number;
  limit: number;
}
/** `level` is a comma list; a limit above 1,000 counts as 1,000. */
export const logQuery = Joi.object<LogQuery>({
  level: Joi.string().pattern(/^(debug|info|warn|error)(,(debug|info|warn|error))*$/),
  component: Joi.string().max(100),
  since: Joi.date().iso(),
  until: Joi.date().iso(),
  search: Joi.string().max(200),
  page: Joi.number().integer().min(1).max(1_000_000).default(1),
  limit: Joi.number().integer().min(1).default(100),
});

export const logPage = Joi.object({
  logs: Joi.array()
    .items(
      Joi.object({
        id: Joi.string().uuid().required(),
        deviceId: Joi.string().uuid().required(),
        orgId: Joi.string().uuid().required(),
        timestamp: Joi.date().iso().required(),
        level: Joi.string()
          .valid(...LEVELS)
          .required(),
        component: Joi.string().required(),
        message: Joi.string().allow('').required(),
        fields: Joi.object().unknown().allow(null).required(),
        agentVersion: Joi.string().allow(null, '').required(),
        createdAt: Joi.date().iso().required(),
      }),
    )
    .required(),
  total: Joi.number().integer().required(),
  limit: Joi.number().integer().required(),
  offset: Joi.number().integer().required(),
});
