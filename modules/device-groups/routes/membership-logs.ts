/** /groups/{id}/membership-log. */
import Joi from 'joi';
import { defineRoute, pageOf, pageQuery } from '#core';
import { changeShape, type LogQuery, REASONS } from '../models/membership.ts';
import { listChanges } from '../services/membership-logs.ts';

export default [
  defineRoute({
    method: 'GET',
    path: '/groups/{id}/membership-log',
    summary: 'Lists who came into a group and who left it, newest first',
    access: { permission: 'devices:read' },
    params: Joi.object<{ id: string }>({ id: Joi.string().uuid().required() }),
    query: Joi.object<LogQuery>({
      ...pageQuery(50, 500),
      deviceId: Joi.string().uuid(),
      action: Joi.string().valid('added', 'removed'),
      reason: Joi.string().valid(...REASONS),
      from: Joi.date().iso(),
      to: Joi.date().iso(),
    }),
    response: pageOf(changeShape),
    errors: ['NOT_FOUND', 'INVALID_CURSOR'],
    handler: (ctx, input) => listChanges(ctx, input.params.id, input.query),
  }),
];
