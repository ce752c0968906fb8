/** /admin/jobs/workers and the pausing of tasks. */
import Joi from 'joi';
import { defineRoute, type PageQuery, pageOf, pageQuery } from '#core';
import { count, taskName, taskStateShape, workerShape } from '../models/shapes.ts';
import { pauseTask, resumeTask } from '../services/acting/pauses.ts';
import { drainWorker, listWorkers, unlockWorker } from '../services/workers.ts';

const read = { permission: 'settings:view', scopes: ['system' as const] };
const write = { permission: 'settings:update', scopes: ['system' as const], mfa: true };
const params = Joi.object<{ id: string }>({
  id: Joi.string()
    .max(300)
    .pattern(/^[\w.-]{1,200}:\d{1,10}:[0-9a-f]{8}$/)
    .required(),
});
const task = Joi.object<{ task: string }>({ task: taskName.required().description('Write the slash as %2F') });

export default [
  defineRoute({
    method: 'GET',
    path: '/admin/jobs/workers',
    summary: 'Lists the workers of the last day',
    access: read,
    query: Joi.object<PageQuery>(pageQuery(100)),
    response: pageOf(workerShape),
    handler: (ctx, { query }) => listWorkers(ctx, query),
  }),
  defineRoute({
    method: 'POST',
    path: '/admin/jobs/workers/{id}/drain',
    summary: 'Drains a worker: it finishes its jobs and takes no more',
    access: write,
    audit: 'job.worker.drain',
    params,
    response: Joi.object({ data: workerShape.required() }),
    errors: ['INVALID_STATE'],
    handler: async (ctx, { params }) => ({ data: await drainWorker(ctx, params.id) }),
  }),
  defineRoute({
    method: 'POST',
    path: '/admin/jobs/workers/{id}/unlock',
    summary: 'Returns the jobs of a dead worker to the queue',
    access: write,
    audit: 'job.worker.unlock',
    params,
    response: Joi.object({ data: workerShape.keys({ unlocked: count }).required() }),
    errors: ['INVALID_STATE'],
    handler: async (ctx, { params }) => ({ data: await unlockWorker(ctx, params.id) }),
  }),
  defineRoute({
    method: 'POST',
    path: '/admin/jobs/tasks/{task}/pause',
    summary: 'Pauses a task: none of its jobs starts',
    access: write,
    audit: 'job.task.pause',
    params: task,
    payload: Joi.object<{ reason?: string }, true>({ reason: Joi.string().trim().max(500) }),
    response: Joi.object({ data: taskStateShape.required() }),
    errors: ['INVALID_STATE'],
    handler: async (ctx, { params, payload }) => ({ data: await pauseTask(ctx, params.task, payload.reason) }),
  }),
  defineRoute({
    method: 'POST',
    path: '/admin/jobs/tasks/{task}/resume',
    summary: 'Resumes a paused task',
    access: write,
    audit: 'job.task.resume',
    params: task,
    response: Joi.object({ data: taskStateShape.required() }),
    handler: async (ctx, { params }) => ({ data: await resumeTask(ctx, params.task) }),
  }),
];
