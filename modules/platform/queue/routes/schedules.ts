/** /admin/jobs/cron: schedules and their lateness. */
import Joi from 'joi';
import { defineRoute, type PageQuery, pageOf, pageQuery } from '#core';
import { id, taskName } from '../models/shapes.ts';
import { listSchedules, runSchedule } from '../services/schedules.ts';

const when = Joi.date().iso().allow(null).required();

export default [
  defineRoute({
    method: 'GET',
    path: '/admin/jobs/cron',
    summary: 'Lists schedules with last run, next run and lateness',
    access: { permission: 'settings:view', scopes: ['system'] },
    query: Joi.object<PageQuery>(pageQuery(100)),
    response: pageOf(
      Joi.object({
        identifier: Joi.string().required(),
        schedule: Joi.string().required().description('Five cron fields in UTC, or `every N s`'),
        module: Joi.string().required(),
        summary: Joi.string().required(),
        scope: Joi.string().required(),
        lastExpected: when,
        lastRun: when,
        lastOutcome: Joi.string().allow(null).required(),
        lastDurationMs: Joi.number().allow(null).required(),
        nextRun: when,
        latenessSec: Joi.number().required(),
        periodSec: Joi.number().allow(null).required(),
        enabled: Joi.boolean().required().description('False while the task is paused'),
      }),
    ),
    handler: (ctx, { query }) => listSchedules(ctx, query),
  }),
  defineRoute({
    method: 'POST',
    path: '/admin/jobs/cron/{id}/run',
    summary: 'Starts a scheduled job now, as if it were due',
    access: { permission: 'settings:update', scopes: ['system'], mfa: true },
    audit: 'job.cron.run',
    params: Joi.object<{ id: string }>({ id: taskName.required().description('Write the slash as %2F') }),
    response: Joi.object({
      data: Joi.object({
        id: id.required(),
        task: Joi.string().required(),
        starts: Joi.string().required(),
      }).required(),
    }),
    status: 202,
    errors: ['INVALID_STATE'],
    handler: async (ctx, { params }) => ({ data: await runSchedule(ctx, params.id) }),
  }),
];
