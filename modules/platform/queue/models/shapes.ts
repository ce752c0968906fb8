/** Request and response schemas that several routes share. */
import Joi from 'joi';

export const STATES = ['ready', 'blocked', 'delayed', 'running', 'stuck', 'retrying', 'failed', 'cancelled'] as const;
export type State = (typeof STATES)[number];

export interface JobRow {
  id: number;
  task: string;
  queue: string | null;
  key: string | null;
  priority: number;
  runAt: Date;
  attempts: number;
  maxAttempts: number;
  lastError: string | null;
  createdAt: Date;
  updatedAt: Date;
  lockedAt: Date | null;
  orgId: string | null;
  nodeId: string | null;
  state: State;
}

export interface JobFilter {
  task?: string;
  queue?: string;
  key?: string;
  state?: State;
  errorContains?: string;
  orgId?: string;
}

export const id = Joi.number().integer().min(1).max(Number.MAX_SAFE_INTEGER);
export const taskName = Joi.string()
  .max(200)
  .pattern(/^[a-z][a-z0-9-]*\/[a-z0-9-]+$/);
export const filterFields = {
  task: taskName.description('Only jobs of this task, `module/verb-noun`'),
  queue: Joi.string().max(200).description('Only jobs of this queue; jobs of one queue run one at a time'),
  key: Joi.string().max(512).description('Only the job with this key'),
  state: Joi.string()
    .valid(...STATES)
    .description('Only jobs in this state'),
  errorContains: Joi.string().min(2).max(200).description('Part of the last error, case-insensitive'),
  orgId: Joi.string().uuid(),
};
/** `30m`, `6h`, `2d`. */
export const window = Joi.string()
  .max(4)
  .pattern(/^[1-9]\d{0,2}[mhd]$/)
  .default('1h')
  .description('How far back to look: 30m, 6h, 2d; at most 14d');

const when = Joi.date().iso();
export const count = Joi.number().integer().required();
export const figure = Joi.number().allow(null).required();
export const jobShape = Joi.object({
  id: id.required(),
  task: Joi.string().required(),
  queue: Joi.string().allow(null).required(),
  key: Joi.string().allow(null).required(),
  state: Joi.string()
    .valid(...STATES)
    .required(),
  priority: count,
  runAt: when.required(),
  attempts: count,
  maxAttempts: count,
  lastError: Joi.string().allow(null, '').required().description('Text that looks like a credential is removed'),
  createdAt: when.required(),
  updatedAt: when.required(),
  lockedAt: when.allow(null).required(),
  orgId: Joi.string().uuid().allow(null).required(),
  nodeId: Joi.string().allow(null).required().description('The worker that runs it'),
});
export const runShape = Joi.object({
  jobId: id.required(),
  task: Joi.string().required(),
  attempt: count,
  outcome: Joi.string().required(),
  startedAt: when.required(),
  finishedAt: when.required(),
  durationMs: count,
  waitMs: Joi.number().integer().allow(null).required(),
  errorMessage: Joi.string().allow(null, '').required(),
  errorFingerprint: Joi.string().allow(null).required(),
  nodeId: Joi.string().required(),
  orgId: Joi.string().uuid().allow(null).required(),
  subjectType: Joi.string().allow(null).required(),
  subjectId: Joi.string().allow(null).required(),
});
export const workerShape = Joi.object({
  id: Joi.string().required(),
  state: Joi.string().valid('running', 'draining', 'stopped', 'lost').required(),
  version: Joi.string().required(),
  startedAt: Joi.date().iso().required(),
  heartbeatAt: Joi.date().iso().required(),
  heartbeatAgeSec: Joi.number().required(),
  concurrency: count,
  activeJobs: count,
  taskCount: count,
  drainRequestedAt: Joi.date().iso().allow(null).required(),
});
export const taskStateShape = Joi.object({
  task: Joi.string().required(),
  paused: Joi.boolean().required(),
  pausedAt: Joi.date().iso().allow(null).required(),
  reason: Joi.string().allow(null).required(),
});
export const domainQueueShape = Joi.object({
  name: Joi.string().required(),
  title: Joi.string().required(),
  pending: count,
  oldestAgeSec: figure,
  failed: count,
  link: Joi.string().required(),
  countedAt: Joi.date().iso().required(),
});
