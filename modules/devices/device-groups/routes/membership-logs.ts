/** /groups/{id}/membership-log. */
import Joi from 'joi';
import { defineRoute, pageOf, pageQuery } from '#core';
import { changeShape, type LogQuery, REASONS } from '../models/membership.ts';
import { listChanges } from '../services/members/membership-logs.ts';

export default [
  defineRoute({
    method: 'GET',
    path: '/groups/{id}/membership-log',
    summary: 'Lists the devices that joined a group or left it, newest first',
    access: { permission: 'devices:read' },
    params: Joi.object<{ id: string }>({ id: Joi.string().uuid().required() }),
    query: Joi.object<LogQuery>({
      ...pageQuery(50, 500),
      deviceId: Joi.string().uuid(),
      action: Joi.string().valid('added', 'removed').description('Only devices that joined, or only devices that left'),
      reason: Joi.string()
        .valid(...REASONS)
        .description('Only for this reason'),
      from: Joi.date().iso().description('Earliest time, inclusive'),
      to: Joi.date().iso().description('Latest time, inclusive'),
    }),
    response: pageOf(changeShape),
    errors: ['NOT_FOUND', 'INVALID_CURSOR'],
    handler: (ctx, input) => listChanges(ctx, input.params.id, input.query),
  }),
];
