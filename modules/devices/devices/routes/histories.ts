/** /devices/{id}/changes and /metrics. */
import Joi from 'joi';
import { defineRoute, pageOf } from '#core';
import { changeQuery, changeShape } from '../models/device-change.ts';
import { metricHistory, metricQuery } from '../models/metric-history.ts';
import { listChanges } from '../services/device-changes.ts';
import { readMetrics } from '../services/metrics/metric-history.ts';

const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });

export default [
  defineRoute({
    method: 'GET',
    path: '/devices/{id}/changes',
    summary: 'Lists what a device has reported differently than before, the newest first',
    access: { permission: 'devices:read' },
    params,
    query: changeQuery,
    response: pageOf(changeShape),
    errors: ['NOT_FOUND', 'INVALID_CURSOR'],
    handler: (ctx, { params: { id }, query }) => listChanges(ctx, id, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/devices/{id}/metrics',
    summary: 'Reads the metrics of a device over time: by five minutes, by the hour or by the day',
    access: { permission: 'devices:read' },
    params,
    query: metricQuery,
    response: metricHistory,
    errors: ['NOT_FOUND'],
    handler: (ctx, { params: { id }, query }) => readMetrics(ctx, id, query),
  }),
];
