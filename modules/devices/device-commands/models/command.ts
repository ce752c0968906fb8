/** A command for a device: row, response and requests. */
import Joi from 'joi';
import { type Causation, Model, named, openObject } from '#core';
import type { TargetRole } from './claimed-command.ts';

export const COMMAND_STATUSES = [
  ...(['pending', 'sent', 'running', 'completed', 'failed', 'timeout', 'cancelled', 'expired'] as const),
];
export type CommandStatus = (typeof COMMAND_STATUSES)[number];
export type CommandSource =
  | 'user'
  | 'api_key'
  | 'script'
  | 'automation'
  | 'patch_job'
  | 'deployment'
  | 'policy'
  | 'security'
  | 'system';

/** The payload is for the agent only: it can contain secrets, and is emptied when the command ends. */
export class Command extends Model {
  static override tableName = 'device_commands';
  static override deviceColumn = 'device_id';
  declare id: string;
  declare deviceId: string;
  declare orgId: string;
  declare type: string;
  declare priority: number;
  declare attempt: number;
  declare targetRole: TargetRole;
  declare status: CommandStatus;
  declare whenOffline: 'queue' | 'fail';
  declare deliverBy: Date;
  declare executionTimeoutSeconds: number;
  declare source: CommandSource;
  declare sourceId: string | null;
  declare batchId: string | null;
  declare createdBy: string | null;
  declare createdAt: Date;
  declare sentAt: Date | null;
  declare startedAt: Date | null;
  declare finishedAt: Date | null;
  declare cancelRequestedAt: Date | null;
  declare exitCode: number | null;
  declare error: string | null;
  declare durationMs: number | null;
  declare data: unknown;
  declare late: boolean;
  declare progressPercent: number | null;
  declare progressMessage: string | null;
  declare causation: Causation | null;
}

/** The columns that are shown: everything except the payload. */
export const COMMAND_COLUMNS = [
  ...['id', 'deviceId', 'orgId', 'type', 'priority', 'attempt', 'targetRole', 'status', 'whenOffline', 'deliverBy'],
  ...['executionTimeoutSeconds', 'source', 'sourceId', 'batchId', 'createdBy', 'createdAt', 'sentAt', 'startedAt'],
  ...['finishedAt', 'cancelRequestedAt', 'exitCode', 'error', 'durationMs', 'data', 'late'],
  ...['progressPercent', 'progressMessage', 'causation'],
] as const;
/** The same columns as SQL, named like the fields. */
export const COMMAND_FIELDS = COMMAND_COLUMNS.map(
  (name) => `${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)} as "${name}"`,
).join(', ');

const time = Joi.date().iso().allow(null).required();
const shape = {
  id: Joi.string().uuid().required(),
  deviceId: Joi.string().uuid().required(),
  orgId: Joi.string().uuid().required(),
  type: Joi.string().required(),
  priority: Joi.number().integer().required(),
  attempt: Joi.number().integer().required(),
  targetRole: Joi.string().valid('agent', 'watchdog').required(),
  status: Joi.string()
    .valid(...COMMAND_STATUSES)
    .required(),
  whenOffline: Joi.string().valid('queue', 'fail').required(),
  deliverBy: time,
  executionTimeoutSeconds: Joi.number().integer().required(),
  source: Joi.string().required(),
  sourceId: Joi.string().uuid().allow(null).required(),
  batchId: Joi.string().uuid().allow(null).required(),
  createdBy: Joi.string().uuid().allow(null).required(),
  createdAt: time,
  sentAt: time,
  startedAt: time,
  finishedAt: time,
  cancelRequestedAt: time,
  exitCode: Joi.number().integer().allow(null).required(),
  error: Joi.string().allow(null, '').required(),
  durationMs: Joi.number().integer().allow(null).required(),
  data: Joi.any().required(),
  late: Joi.boolean().required(),
  progressPercent: Joi.number().allow(null).required(),
  progressMessage: Joi.string().allow(null).required(),
  causation: Joi.object({
    correlationId: Joi.string().uuid().required(),
    causationId: Joi.string().uuid().allow(null).required(),
    depth: Joi.number().integer().required(),
    by: Joi.array().items(Joi.string()).required(),
  })
    .allow(null)
    .required()
    .description('What led to it, as in the history of events; the event of its end has the same'),
};
export const commandShape = named('Command', Joi.object(shape));
export const commandWithOutput = named(
  'CommandWithOutput',
  Joi.object({
    ...shape,
    stdout: Joi.string().allow(null, '').required(),
    stderr: Joi.string().allow(null, '').required(),
    outputTruncated: Joi.boolean().required(),
  }),
);

export interface CommandCreate {
  type: string;
  payload?: Record<string, unknown>;
  whenOffline?: 'queue' | 'fail';
  deliverByMinutes?: number;
}
export const commandCreate = named(
  'CommandCreate',
  Joi.object<CommandCreate, true>({
    type: Joi.string().max(50).required(),
    payload: openObject(),
    whenOffline: Joi.string().valid('queue', 'fail'),
    deliverByMinutes: Joi.number().integer().min(1).max(10_080),
  }),
);

export interface ScriptRun {
  language: string;
  content: string;
  timeoutSeconds: number;
  args?: string[];
}
export const scriptRun = named(
  'ScriptRun',
  Joi.object<ScriptRun, true>({
    language: Joi.string().valid('bash', 'sh', 'python', 'node', 'powershell', 'cmd').required(),
    content: Joi.string().max(200_000).required(),
    timeoutSeconds: Joi.number().integer().min(1).max(86_400).default(300),
    args: Joi.array().items(Joi.string().allow('').max(2000)).max(50),
  }),
);
