/** /acme-asset-labels: a module package's paths lie below its module's name. */
import { defineRoute, pageOf } from '@quartermaster/module-kit';
import Joi from 'joi';
import { labelCreate, labelQuery, labelShape, labelUpdate } from '../models/asset-label.ts';
import { createLabel, deleteLabel, listLabels, readLabel, updateLabel } from '../services/labels.ts';
import { orderLabels } from '../services/numbers.ts';

const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });
const one = Joi.object({ data: labelShape.required() });

export default [
  defineRoute({
    method: 'GET',
    path: '/acme-asset-labels',
    summary: 'Lists asset labels in their order',
    access: { permission: 'devices:read' },
    query: labelQuery,
    response: pageOf(labelShape),
    handler: (ctx, { query }) => listLabels(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/acme-asset-labels/{id}',
    summary: 'Reads an asset label',
    access: { permission: 'devices:read' },
    params,
    response: one,
    handler: (ctx, { params: { id } }) => readLabel(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: '/acme-asset-labels',
    summary: 'Gives a device a label',
    access: { permission: 'devices:write' },
    audit: 'acme-asset-labels.label.create',
    payload: labelCreate,
    response: one,
    status: 201,
    errors: ['LABEL_TAKEN', 'DEVICE_HAS_LABEL', 'NUMBERS_TAKEN', 'NOT_FOUND'],
    handler: (ctx, { payload }) => createLabel(ctx, payload),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/acme-asset-labels/{id}',
    summary: 'Changes a label',
    access: { permission: 'devices:write' },
    audit: 'acme-asset-labels.label.update',
    params,
    payload: labelUpdate,
    response: one,
    errors: ['LABEL_TAKEN'],
    handler: (ctx, { params: { id }, payload }) => updateLabel(ctx, id, payload),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/acme-asset-labels/{id}',
    summary: 'Takes a label away',
    access: { permission: 'devices:write' },
    audit: 'acme-asset-labels.label.delete',
    params,
    response: Joi.object({ success: Joi.boolean().required() }),
    handler: (ctx, { params: { id } }) => deleteLabel(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: '/acme-asset-labels/assign',
    summary: 'Gives a number to every device that has none',
    access: { permission: 'devices:write' },
    audit: 'acme-asset-labels.label.assign',
    payload: Joi.object<{ orgId?: string }>({ orgId: Joi.string().uuid() }),
    response: Joi.object({ accepted: Joi.boolean().required() }),
    status: 202,
    errors: ['ORG_REQUIRED', 'TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { payload }) => orderLabels(ctx, payload.orgId),
  }),
];
