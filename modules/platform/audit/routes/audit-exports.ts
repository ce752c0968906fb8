/** /audit-logs/export and the same under /audit: at most 10,000 entries, answered immediately. */
import { type AnyRoute, defineRoute } from '#core';
import { csvQuery, exportRequest, exportShape } from '../models/audit-export.ts';
import { exportCsv, exportEntries } from '../services/exports/exports.ts';

const limits = [{ name: 'audit-export', max: 30, windowSeconds: 60, by: 'actor' as const }];

const under = (base: '/audit-logs' | '/audit'): AnyRoute[] => [
  defineRoute({
    method: 'POST',
    path: `${base}/export`,
    summary: 'Exports the newest 10,000 audit entries of a selection as CSV or JSON',
    access: { permission: 'audit:export' },
    audit: 'audit_logs.export',
    payload: exportRequest,
    response: exportShape,
    produces: ['application/json', 'text/csv'],
    limits,
    handler: (ctx, { payload }) => exportEntries(ctx, payload),
  }),
  defineRoute({
    method: 'GET',
    path: `${base}/export`,
    summary: 'Exports the newest 10,000 audit entries of a selection as CSV',
    access: { permission: 'audit:export' },
    audit: 'audit_logs.export',
    query: csvQuery,
    response: exportShape,
    produces: ['text/csv'],
    limits,
    handler: (ctx, { query }) => exportCsv(ctx, query),
  }),
];

export default [...under('/audit-logs'), ...under('/audit')];
