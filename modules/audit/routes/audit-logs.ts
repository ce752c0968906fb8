/** /audit-logs (spec/3-operations, Audit logs). */

import Joi from 'joi';
import { defineRoute, pageOf } from '#core';
import { type AuditQuery, auditQuery, auditShape, verdictShape } from '../models/audit-log.ts';
import { listEntries, readEntry } from '../services/entries.ts';
import { verifyTrail } from '../services/verification.ts';

export default [
  defineRoute({
    method: 'GET',
    path: '/audit-logs/logs',
    summary: 'Lists audit entries, newest first',
    access: { permission: 'audit:read' },
    query: auditQuery,
    response: pageOf(auditShape),
    handler: (ctx, { query }: { query: AuditQuery }) => listEntries(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/audit-logs/logs/{id}',
    summary: 'Reads an audit entry',
    access: { permission: 'audit:read' },
    params: Joi.object<{ id: string }>({ id: Joi.string().uuid().required() }),
    response: Joi.object({ data: auditShape.required() }),
    handler: (ctx, { params: { id } }) => readEntry(ctx, id),
  }),
  defineRoute({
    method: 'GET',
    path: '/audit-logs/verify',
    summary: 'Recomputes a hash chain and names the first row that does not fit',
    description: "Without orgId: the caller's organization, a partner's own rows, or the platform's.",
    access: { permission: 'audit:read' },
    limits: [{ name: 'audit-verify', max: 10, windowSeconds: 60, by: 'actor' }],
    query: Joi.object<{ orgId?: string }>({ orgId: Joi.string().uuid() }),
    response: Joi.object({ data: verdictShape.required() }),
    work: { platform: "the heads of the chains are out of the tenants' reach; the service checks what may be asked" },
    handler: (ctx, { query }) => verifyTrail(ctx, query.orgId),
  }),
];
