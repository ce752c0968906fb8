/** /devices/{id}/software and /services. */
import Joi from 'joi';
import { defineRoute, type PageQuery, pageOf, pageQuery } from '#core';
import { serviceShape, softwareShape } from '../models/inventory.ts';
import { listServices, listSoftware } from '../services/inventory-lists.ts';

const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });
const query = Joi.object<PageQuery>(pageQuery(100, 500));

export default [
  defineRoute({
    method: 'GET',
    path: '/devices/{id}/software',
    summary: 'Lists the software installed on a device, by name',
    access: { permission: 'devices:read' },
    params,
    query,
    response: pageOf(softwareShape),
    errors: ['NOT_FOUND'],
    handler: (ctx, input) => listSoftware(ctx, input.params.id, input.query),
  }),
  defineRoute({
    method: 'GET',
    path: '/devices/{id}/services',
    summary: 'Lists the services of a device, by name',
    access: { permission: 'devices:read' },
    params,
    query,
    response: pageOf(serviceShape),
    errors: ['NOT_FOUND'],
    handler: (ctx, input) => listServices(ctx, input.params.id, input.query),
  }),
];
