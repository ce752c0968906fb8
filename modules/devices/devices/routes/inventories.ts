/** /devices/{id}/software, /services and /reports. */
import Joi from 'joi';
import { defineRoute, type PageQuery, pageOf, pageQuery } from '#core';
import { reportShape, serviceShape, softwareShape } from '../models/inventory.ts';
import { REPORT_KINDS, type ReportKind } from '../models/snapshots.ts';
import { listServices, listSoftware } from '../services/inventory/inventory-lists.ts';
import { readReports } from '../services/inventory/reports.ts';

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
  defineRoute({
    method: 'GET',
    path: '/devices/{id}/reports',
    summary: 'Reads the last reports of the agent: patches, security, sessions, connections or processes',
    access: { permission: 'devices:read' },
    params,
    query: Joi.object<{ kind?: ReportKind }>({
      kind: Joi.string()
        .valid(...REPORT_KINDS)
        .description('When absent, the response lists the reports that exist, with their times only'),
    }),
    response: reportShape,
    errors: ['NOT_FOUND'],
    handler: (ctx, { params: { id }, query: { kind } }) => readReports(ctx, id, kind),
  }),
];
