/** /admin/jobs: jobs in the queue, single and in bulk. */
import Joi from 'joi';
import { defineRoute, type PageQuery, pageOf, pageQuery } from '#core';
import { count, filterFields, id, type JobFilter, jobShape, runShape } from '../models/shapes.ts';
import { type Bulk, changeMany } from '../services/acting/bulk-changes.ts';
import { cancelJob, type Retry, retryJob } from '../services/acting/changes.ts';
import { listJobs, readJob } from '../services/rows/queue.ts';
import { explainJob } from '../services/rows/reasons.ts';

const read = { permission: 'settings:view', scopes: ['system' as const] };
const write = { permission: 'settings:update', scopes: ['system' as const], mfa: true };
const params = Joi.object<{ id: number }>({ id: id.required() });
const reason = Joi.string().trim().min(1).max(500);
const row = Joi.object({ data: jobShape.required() });

export default [
  defineRoute({
    method: 'GET',
    path: '/admin/jobs',
    summary: 'Lists waiting, running and failed jobs, by id',
    access: read,
    query: Joi.object<PageQuery & JobFilter>({ ...pageQuery(100), ...filterFields }),
    response: pageOf(jobShape),
    handler: (ctx, { query }) => listJobs(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/jobs/{id}',
    summary: 'Reads a job with its attempts and subject',
    description: 'A job that finished is no longer in the queue: 404. Its attempts are under /admin/jobs/runs?jobId=.',
    access: read,
    params,
    response: Joi.object({
      data: jobShape
        .keys({
          attempted: Joi.array().items(runShape).required(),
          subject: Joi.object({
            type: Joi.string().allow(null).required(),
            id: Joi.string().allow(null).required(),
            link: Joi.string().allow(null).required(),
          })
            .allow(null)
            .required(),
        })
        .required(),
    }),
    handler: async (ctx, { params }) => ({ data: await readJob(ctx, params.id) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/admin/jobs/{id}/why',
    summary: 'Explains why a job is not running: every reason that applies, the decisive one first',
    access: read,
    params,
    response: Joi.object({
      data: Joi.object({
        id: id.required(),
        task: Joi.string().required(),
        state: Joi.string().required(),
        startable: Joi.boolean().required(),
        reasons: Joi.array()
          .items(
            Joi.object({
              code: Joi.string().required(),
              message: Joi.string().required(),
              details: Joi.object().unknown(),
            }),
          )
          .required(),
      }).required(),
    }),
    handler: async (ctx, { params }) => ({ data: await explainJob(ctx, params.id) }),
  }),
  defineRoute({
    method: 'POST',
    path: '/admin/jobs/{id}/retry',
    summary: 'Runs a job again',
    access: write,
    audit: 'job.retry',
    params,
    payload: Joi.object<Retry, true>({
      runAt: Joi.date().iso().description('Immediately when absent'),
      resetAttempts: Joi.boolean().default(true).description('False allows one further attempt'),
    }),
    response: row,
    errors: ['JOB_LOCKED'],
    handler: async (ctx, { params, payload }) => ({ data: await retryJob(ctx, params.id, payload) }),
  }),
  defineRoute({
    method: 'POST',
    path: '/admin/jobs/{id}/cancel',
    summary: 'Cancels a job that is not running',
    access: write,
    audit: 'job.cancel',
    params,
    payload: Joi.object<{ reason: string }, true>({ reason: reason.required() }),
    response: row,
    errors: ['JOB_LOCKED', 'INVALID_STATE'],
    handler: async (ctx, { params, payload }) => ({ data: await cancelJob(ctx, params.id, payload.reason) }),
  }),
  defineRoute({
    method: 'POST',
    path: '/admin/jobs/bulk',
    summary: 'Retries, cancels or removes many jobs',
    description:
      'Exactly one of `ids` and `filter`. At most 10,000 a call. A filter that fits more than 1,000 wants the `confirm` of a dry run.',
    access: write,
    audit: 'job.bulk',
    payload: Joi.object<Bulk, true>({
      action: Joi.string().valid('retry', 'cancel', 'delete').required(),
      ids: Joi.array().items(id.required()).min(1).max(1000).unique(),
      filter: Joi.object<JobFilter, true>(filterFields),
      reason,
      dryRun: Joi.boolean().default(false),
      confirm: Joi.string().hex().length(32),
    }),
    response: Joi.object({
      matched: count,
      changed: count,
      skippedLocked: count,
      remaining: count,
      confirm: Joi.string(),
    }),
    errors: ['FILTER_TOO_BROAD'],
    handler: (ctx, { payload }) => changeMany(ctx, payload),
  }),
];
