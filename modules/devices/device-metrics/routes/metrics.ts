/** /devices/{id}/metrics. */
import Joi from 'joi';
import { defineRoute } from '#core';
import { metricHistory, metricQuery } from '../models/metric-history.ts';
import { readMetrics } from '../services/metric-history.ts';

export default [
  defineRoute({
    method: 'GET',
    path: '/devices/{id}/metrics',
    summary: 'Reads the metrics of a device over time: by five minutes, by the hour or by the day',
    access: { permission: 'devices:read' },
    params: Joi.object<{ id: string }>({ id: Joi.string().uuid().required() }),
    query: metricQuery,
    response: metricHistory,
    errors: ['NOT_FOUND'],
    handler: (ctx, { params: { id }, query }) => readMetrics(ctx, id, query),
  }),
];
