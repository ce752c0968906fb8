/** /software/inventory: the software on all devices that the caller sees. */
import Joi from 'joi';
import { defineRoute, pageOf, trackedPageOf } from '#core';
import { installationShape, softwareQuery, titleShape } from '../models/software-query.ts';
import { listSoftwareInventory } from '../services/inventory/software-inventory.ts';

export default [
  defineRoute({
    method: 'GET',
    path: '/software/inventory',
    summary: 'Lists installed software, each name once or each installation, or the changes of installations',
    access: { permission: 'devices:read' },
    query: softwareQuery,
    response: Joi.alternatives(pageOf(titleShape), trackedPageOf(installationShape)),
    errors: ['INVALID_CURSOR', 'CURSOR_EXPIRED', 'ORG_ACCESS_DENIED', 'SITE_ACCESS_DENIED'],
    handler: (ctx, { query }) => listSoftwareInventory(ctx, query),
  }),
];
