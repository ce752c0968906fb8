/** /admin/jobs/overview, /tasks, /failures, /runs and /domain-queues. */
import Joi from 'joi';
import { defineRoute, type PageQuery, pageOf, pageQuery } from '#core';
import { count, domainQueueShape, figure, filterFields, id, runShape, taskName, window } from '../models/shapes.ts';
import { domainQueues } from '../services/domain-queues.ts';
import { overview } from '../services/overviews.ts';
import { listFailures } from '../services/rows/failures.ts';
import { listed } from '../services/rows/listed.ts';
import { listRuns, type RunQuery } from '../services/rows/runs.ts';
import { listTasks } from '../services/tasks.ts';

const access = { permission: 'settings:view', scopes: ['system' as const] };
const when = Joi.date().iso();
const rates = { throughputPerMin: Joi.number().required(), errorRate: Joi.number().required() };
const waiting = {
  ready: count,
  blocked: count,
  delayed: count,
  running: count,
  retrying: count,
  failed: count,
  stuck: count,
  oldestReadyAgeSec: figure,
};

export default [
  defineRoute({
    method: 'GET',
    path: '/admin/jobs/overview',
    summary: 'Shows the state of the queue at a glance',
    description:
      'Read from a snapshot that is at most 15 s old and from counts by minute, so it does not slow the queue down.',
    access,
    query: Joi.object<{ window: string }>({ window }),
    response: Joi.object({
      ...waiting,
      cancelled: count,
      ...rates,
      p95LatencyMs: figure.description('From the time a job could start until it started'),
      p95DurationMs: figure,
      nodes: Joi.object({ running: count, draining: count, lost: count, slots: count, busy: count }).required(),
      snapshotAt: when.allow(null).required(),
      health: Joi.object({
        level: Joi.string().valid('ok', 'warn', 'critical').required(),
        problems: Joi.array().items(Joi.object().unknown()).required(),
      }).required(),
      domainQueues: Joi.array().items(domainQueueShape).required(),
    }),
    handler: (ctx, { query }) => overview(ctx, query.window),
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/jobs/tasks',
    summary: 'Lists every task with its figures, last error and pause state',
    access,
    query: Joi.object<PageQuery & { window: string }>({ ...pageQuery(100), window }),
    response: pageOf(
      Joi.object({
        task: Joi.string().required(),
        module: Joi.string().required(),
        summary: Joi.string().required(),
        scope: Joi.string().required(),
        ...waiting,
        ...rates,
        p50DurationMs: figure,
        p95DurationMs: figure,
        p50WaitMs: figure,
        p95WaitMs: figure,
        lastError: Joi.object({ message: Joi.string().allow('').required(), at: when.required() })
          .allow(null)
          .required(),
        pausedAt: when.allow(null).required(),
        sparkline: Joi.array()
          .items(Joi.number())
          .length(60)
          .required()
          .description('Attempts in 60 equal parts of the window'),
      }),
    ),
    handler: (ctx, { query }) => listTasks(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/jobs/failures',
    summary: 'Lists failed attempts, grouped by fault',
    access,
    query: Joi.object<PageQuery & { since?: Date; groupBy: 'fingerprint' }>({
      ...pageQuery(100),
      since: when.description('A day ago when absent; failures are kept for 30 days'),
      groupBy: Joi.string()
        .valid('fingerprint')
        .default('fingerprint')
        .description('What the attempts of a group share'),
    }),
    response: pageOf(
      Joi.object({
        fingerprint: Joi.string().allow('').required(),
        task: Joi.string().required(),
        outcome: Joi.string().required().description('The outcome of the last attempt'),
        count,
        firstAt: when.required(),
        lastAt: when.required(),
        sample: Joi.object({
          jobId: id.required(),
          message: Joi.string().allow(null, '').required(),
          nodeId: Joi.string().required(),
          orgId: Joi.string().allow(null).required(),
        }).required(),
      }),
    ),
    handler: (ctx, { query }) => listFailures(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/jobs/runs',
    summary: 'Lists finished attempts, newest first',
    description: 'Kept for 14 days. Frequent successes of a task are sampled; every other outcome is kept.',
    access,
    query: Joi.object<RunQuery>({
      ...pageQuery(100),
      task: taskName.description('Only attempts of this task, `module/verb-noun`'),
      outcome: Joi.string()
        .valid('success', 'error', 'failed', 'interrupted', 'skipped')
        .description('Only attempts with this outcome'),
      jobId: id.description('Only attempts of this job'),
      orgId: filterFields.orgId,
      nodeId: Joi.string().max(300).description('Only attempts on this worker'),
      fingerprint: Joi.string()
        .max(64)
        .description('Only attempts with this fault, as named by GET /admin/jobs/failures'),
      since: when.description('Only attempts that ended at this time or later'),
    }),
    response: pageOf(runShape),
    handler: (ctx, { query }) => listRuns(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/jobs/domain-queues',
    summary: 'Lists work that waits in other tables: commands, exports, the audit outbox',
    access,
    query: Joi.object<PageQuery>(pageQuery(100)),
    response: pageOf(domainQueueShape),
    handler: async (ctx, { query }) => listed(await domainQueues(ctx), query, 'domain-queues', ({ name }) => name),
  }),
];
