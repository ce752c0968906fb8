/** Devices that conditions match: /filters/preview, /filters/{id}/preview and /filters/explain. */
import Joi from 'joi';
import { defineRoute, pageQuery } from '#core';
import type { Group } from '../models/condition.ts';
import { previewShape } from '../models/preview.ts';
import { group } from '../models/saved-filter.ts';
import { explain } from '../services/explanations.ts';
import { previewFilter } from '../services/filters.ts';
import { previewConditions } from '../services/previews.ts';

const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });
const { limit } = pageQuery(10, 100);
const verdict = Joi.string().valid('true', 'false', 'unknown').required();

export default [
  defineRoute({
    method: 'POST',
    path: '/filters/preview',
    summary: 'Previews the devices that conditions match',
    access: { permission: 'devices:read' },
    audit: 'filter.preview',
    payload: Joi.object<{ conditions: Group; limit: number }>({ conditions: group.required(), limit }),
    response: Joi.object({ data: previewShape.required() }),
    errors: ['FILTER_TOO_EXPENSIVE'],
    handler: (ctx, { payload }) => previewConditions(ctx, payload.conditions, payload.limit),
  }),
  defineRoute({
    method: 'POST',
    path: '/filters/{id}/preview',
    summary: 'Previews the devices that a saved filter matches',
    access: { permission: 'devices:read' },
    audit: 'filter.saved.preview',
    params,
    query: Joi.object<{ limit: number }>({ limit }),
    response: Joi.object({ data: previewShape.required() }),
    errors: ['FILTER_TOO_EXPENSIVE'],
    handler: (ctx, { params: { id }, query }) => previewFilter(ctx, id, query.limit),
  }),
  defineRoute({
    method: 'POST',
    path: '/filters/explain',
    summary: 'Explains for each condition whether a device meets it, and why',
    access: { permission: 'devices:read' },
    audit: { none: 'it reads one device, like GET /devices/{id}' },
    payload: Joi.object<{ conditions: Group; deviceId: string }>({
      conditions: group.required(),
      deviceId: Joi.string().uuid().required(),
    }),
    response: Joi.object({
      data: Joi.object({
        deviceId: Joi.string().uuid().required(),
        matches: Joi.boolean().required(),
        evaluatedAt: Joi.date().iso().required(),
        conditions: Joi.object({
          operator: Joi.string().valid('AND', 'OR').required(),
          result: verdict,
          conditions: Joi.array().items(Joi.object().unknown()).required(),
        })
          .required()
          .description('The tree as submitted; groups have `result`, conditions `result` and `observed`'),
      }).required(),
    }),
    errors: ['FILTER_TOO_EXPENSIVE', 'NOT_FOUND'],
    handler: (ctx, { payload }) => explain(ctx, payload.conditions, payload.deviceId),
  }),
];
