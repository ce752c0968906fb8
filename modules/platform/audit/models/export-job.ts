/** An export of any size: requested, written by a job, kept for seven days. */
import Joi from 'joi';
import { Model, named, type PageQuery, pageOf, pageQuery } from '#core';
import { type AuditFilter, orgFilter, partFilters, rangeFilters } from './audit-log.ts';

export class ExportJob extends Model {
  static override tableName = 'audit_exports';
  static override partnerOwned = true;
  static override jsonAttributes = ['filter', 'position'];
  declare id: string;
  declare orgId: string | null;
  declare partnerId: string | null;
  declare orgIds: string[] | null;
  /** Limits of the person who requested it; null for none. */
  declare siteIds: string[] | null;
  declare groupIds: string[] | null;
  declare requestedBy: string | null;
  declare requestedByEmail: string | null;
  declare format: 'csv' | 'ndjson';
  declare filter: AuditFilter;
  declare status: 'pending' | 'running' | 'completed' | 'failed';
  declare step: number;
  declare position: ExportPosition | null;
  declare entries: number;
  declare total: number | null;
  declare bytes: number;
  declare chunks: number;
  declare createdAt: Date;
  declare updatedAt: Date;
  declare completedAt: Date | null;
  declare expiresAt: Date;
}

/** Trails are written one after the other; within each, the next entry lies behind the one named. */
export interface ExportPosition {
  trail: number;
  after: { at: string; id: string } | null;
}

export interface ExportJobRequest {
  format: 'csv' | 'ndjson';
  filters?: Pick<AuditFilter, 'user' | 'action' | 'resource' | 'orgId' | 'q'>;
  dateRange?: Pick<AuditFilter, 'from' | 'to'>;
}
export const exportJobRequest = named(
  'AuditExportJobCreate',
  Joi.object<ExportJobRequest>({
    format: Joi.string().valid('csv', 'ndjson').default('ndjson'),
    filters: Joi.object({ ...partFilters, orgId: orgFilter, q: Joi.string().trim().min(1).max(255) }),
    dateRange: Joi.object(rangeFilters),
  }),
);

export const exportJobQuery = Joi.object<PageQuery>(pageQuery(50, 100));
export const exportJobParams = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });

export const exportAccepted = named(
  'AuditExportAccepted',
  Joi.object({
    jobId: Joi.string().uuid().required(),
    status: Joi.string().valid('pending').required(),
  }),
);
export const exportJobShape = named(
  'AuditExportJob',
  Joi.object({
    id: Joi.string().uuid().required(),
    orgId: Joi.string().uuid().allow(null).required(),
    requestedBy: Joi.string().allow(null).required(),
    format: Joi.string().valid('csv', 'ndjson').required(),
    filters: Joi.object().unknown().required(),
    status: Joi.string().valid('pending', 'running', 'completed', 'failed').required(),
    progress: Joi.number().integer().min(0).max(100).required().description('Percent'),
    entries: Joi.number().integer().required(),
    bytes: Joi.number().integer().required().description('Size of the compressed file so far'),
    createdAt: Joi.date().iso().required(),
    completedAt: Joi.date().iso().allow(null).required(),
    expiresAt: Joi.date().iso().required(),
    downloadUrl: Joi.string().allow(null).required(),
  }),
);
export const exportJobPage = pageOf(exportJobShape);
