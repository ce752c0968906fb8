/** /audit-logs and the same under /audit: lists, entries and search. */

import Joi from 'joi';
import { type AnyRoute, defineRoute } from '#core';
import { auditPage, auditQuery, auditSearch, auditShape, flatPage } from '../models/audit-log.ts';
import { listEntries, readEntry } from '../services/reading/entries.ts';
import { listFlat } from '../services/reading/flat-list.ts';

const under = (base: '/audit-logs' | '/audit'): AnyRoute[] => [
  defineRoute({
    method: 'GET',
    path: base,
    summary: 'Lists audit entries in the flat form, newest first',
    access: { permission: 'audit:read' },
    query: auditQuery,
    response: flatPage,
    errors: ['INVALID_CURSOR'],
    handler: (ctx, { query }) => listFlat(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: `${base}/logs`,
    // In camel case /audit/logs and /audit-logs would get the same operation id.
    ...(base === '/audit' ? { operationId: 'getAuditFullLogs' } : {}),
    summary: 'Lists audit entries, newest first',
    access: { permission: 'audit:read' },
    query: auditQuery,
    response: auditPage,
    errors: ['INVALID_CURSOR'],
    handler: (ctx, { query }) => listEntries(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: `${base}/logs/{id}`,
    summary: 'Reads an audit entry',
    access: { permission: 'audit:read' },
    params: Joi.object<{ id: string }>({ id: Joi.string().uuid().required() }),
    response: Joi.object({ data: auditShape.required() }),
    handler: (ctx, { params: { id } }) => readEntry(ctx, id),
  }),
  defineRoute({
    method: 'GET',
    path: `${base}/search`,
    summary: 'Searches audit entries for a text in any field',
    access: { permission: 'audit:read' },
    query: auditSearch,
    response: auditPage,
    errors: ['INVALID_CURSOR'],
    handler: (ctx, { query }) => listEntries(ctx, query),
  }),
];

export default [...under('/audit-logs'), ...under('/audit')];
