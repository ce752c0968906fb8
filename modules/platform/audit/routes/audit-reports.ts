/** /audit-logs/reports and /audit-logs/stats, and the same under /audit. */
import { type AnyRoute, defineRoute } from '#core';
import {
  complianceShape,
  reportQuery,
  securityEventsShape,
  statsShape,
  userActivityShape,
} from '../models/audit-report.ts';
import { compliance, securityEvents, userActivity } from '../services/reading/reports.ts';
import { statistics } from '../services/reading/stats.ts';

const under = (base: '/audit-logs' | '/audit'): AnyRoute[] => [
  defineRoute({
    method: 'GET',
    path: `${base}/reports/user-activity`,
    summary: 'Reports the activity of users',
    access: { permission: 'audit:read' },
    query: reportQuery,
    response: userActivityShape,
    handler: (ctx, { query }) => userActivity(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: `${base}/reports/security-events`,
    summary: 'Reports logins, permission changes and other security events',
    access: { permission: 'audit:read' },
    query: reportQuery,
    response: securityEventsShape,
    handler: (ctx, { query }) => securityEvents(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: `${base}/reports/compliance`,
    summary: 'Reports access to data, changes and exports',
    access: { permission: 'audit:read' },
    query: reportQuery,
    response: complianceShape,
    handler: (ctx, { query }) => compliance(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: `${base}/stats`,
    summary: 'Counts audit entries by category and by user',
    access: { permission: 'audit:read' },
    query: reportQuery,
    response: statsShape,
    handler: (ctx, { query }) => statistics(ctx, query),
  }),
];

export default [...under('/audit-logs'), ...under('/audit')];
