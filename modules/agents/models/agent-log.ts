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
