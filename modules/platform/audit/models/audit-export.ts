/** The request schema of immediate exports. */
import Joi from 'joi';
import { type AuditFilter, filterFields, orgFilter, partFilters, rangeFilters } from './audit-log.ts';

export interface ExportRequest {
  format: 'csv' | 'json';
  filters?: Pick<AuditFilter, 'user' | 'action' | 'resource' | 'orgId'>;
  dateRange?: Pick<AuditFilter, 'from' | 'to'>;
}
export const exportRequest = Joi.object<ExportRequest>({
  format: Joi.string().valid('csv', 'json').default('json'),
  filters: Joi.object({ ...partFilters, orgId: orgFilter }),
  dateRange: Joi.object(rangeFilters),
});

export interface CsvQuery extends AuditFilter {
  userId?: string;
}
export const csvQuery = Joi.object<CsvQuery>({
  ...filterFields,
  userId: Joi.string().uuid().description('Only entries of this actor'),
});

const text = Joi.string().allow(null, '').required();
export const exportedRow = Joi.object({
  id: Joi.string().uuid().required(),
  timestamp: Joi.date().iso().required(),
  actorId: Joi.string().uuid().required(),
  actorName: text,
  actorEmail: text,
  action: Joi.string().required(),
  resourceType: Joi.string().required(),
  resourceId: Joi.string().uuid().required(),
  resourceName: text,
  category: Joi.string().required(),
  result: Joi.string().valid('success', 'failure', 'denied').required(),
  ipAddress: text,
  userAgent: text,
  details: Joi.object().unknown().required(),
});
export const exportShape = Joi.object({
  data: Joi.array().items(exportedRow).required(),
  total: Joi.number().integer().required(),
});
