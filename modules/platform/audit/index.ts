/** The audit trail: reading, proving, exporting and keeping it. Core writes and seals it. */
import { defineModule, provide } from '#core';
import { exportedRow, exportRequest, exportShape } from './models/audit-export.ts';
import { auditPage, auditShape, flatPage } from './models/audit-log.ts';
import {
  actionCount,
  complianceShape,
  securityEventsShape,
  statsShape,
  userActivityShape,
} from './models/audit-report.ts';
import { checkpointShape, consistencyShape, inclusionShape, keyShape } from './models/checkpoint.ts';
import { exportAccepted, exportJobRequest, exportJobShape } from './models/export-job.ts';
import { retentionShape, retentionUpdate } from './models/retention-policy.ts';
import { verdictShape } from './models/verdict.ts';
import { FEED, FeedHead } from './services/live/feed-head.ts';

export default defineModule({
  name: 'audit',
  title: 'Audit trail',
  summary: 'Who did what and when, with proof that entries were not altered',
  requires: [],
  core: true,
  permissions: ['audit:read', 'audit:export', 'settings:update'],
  audits: [
    'audit_logs.export',
    'audit_logs.export.download',
    'audit_logs.chain.export',
    'audit_logs.retention.update',
    'audit_logs.prune',
  ],
  start({ asPlatform }) {
    return { provide: [provide(FEED, new FeedHead(asPlatform))] };
  },
  schemas: {
    AuditActionCount: actionCount,
    AuditCheckpoint: checkpointShape,
    AuditCompliance: complianceShape,
    AuditConsistencyProof: consistencyShape,
    AuditEntry: auditShape,
    AuditEntryFlatPage: flatPage,
    AuditEntryPage: auditPage,
    AuditExport: exportShape,
    AuditExportAccepted: exportAccepted,
    AuditExportEntry: exportedRow,
    AuditExportJob: exportJobShape,
    AuditExportJobCreate: exportJobRequest,
    AuditExportRequest: exportRequest,
    AuditInclusionProof: inclusionShape,
    AuditPublicKey: keyShape,
    AuditRetentionPolicy: retentionShape,
    AuditRetentionPolicyUpdate: retentionUpdate,
    AuditSecurityEvents: securityEventsShape,
    AuditStats: statsShape,
    AuditUserActivity: userActivityShape,
    AuditVerdict: verdictShape,
  },
});
