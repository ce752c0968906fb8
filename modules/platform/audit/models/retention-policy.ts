/** How long the entries of an organization are kept. */
import Joi from 'joi';
import { Model } from '#core';

export class RetentionPolicy extends Model {
  static override tableName = 'audit_retention_policies';
  static override idColumn = 'org_id';
  declare orgId: string;
  declare retentionDays: number;
  declare archiveToS3: boolean;
  declare lastCleanupAt: Date | null;
}
/** The defaults. */
export const DEFAULT_DAYS = 365;

export interface RetentionUpdate {
  retentionDays?: number;
  archiveToS3?: boolean;
}
export const retentionUpdate = Joi.object<RetentionUpdate>({
  retentionDays: Joi.number().integer().min(1).max(3650),
  archiveToS3: Joi.boolean().description('Archive to object storage before deletion'),
});
export const retentionShape = Joi.object({
  orgId: Joi.string().uuid().required(),
  retentionDays: Joi.number().integer().required(),
  archiveToS3: Joi.boolean().required(),
  lastCleanupAt: Joi.date().iso().allow(null).required(),
});
