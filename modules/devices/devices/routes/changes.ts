/** /devices/{id}/changes. */
import Joi from 'joi';
import { defineRoute, pageOf } from '#core';
import { changeQuery, changeShape } from '../models/device-change.ts';
import { listChanges } from '../services/device-changes.ts';

const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });

export default [
  defineRoute({
    method: 'GET',
    path: '/devices/{id}/changes',
    summary: 'Lists the changes that a device has reported, newest first',
    access: { permission: 'devices:read' },
    params,
    query: changeQuery,
    response: pageOf(changeShape),
    errors: ['NOT_FOUND', 'INVALID_CURSOR'],
    handler: (ctx, { params: { id }, query }) => listChanges(ctx, id, query),
  }),
];
