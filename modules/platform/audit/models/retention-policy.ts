/** How long the entries of an organization are kept. */
import Joi from 'joi';
import { column, defineTable, type InputOf, named } from '#core';

const policies = defineTable('audit_retention_policies', {
  orgId: column.uuid(),
  retentionDays: column.integer(Joi.number().integer().min(1).max(3650)),
  archiveToS3: column.of<boolean>(
    Joi.boolean().description('Archive to object storage before deletion'),
    Joi.boolean(),
  ),
  lastCleanupAt: column.nullable(column.time()),
});

export class RetentionPolicy extends policies.Model {
  static override idColumn = 'org_id';
}
/** For organizations that have set nothing. */
export const DEFAULT_DAYS = 365;

export const retentionUpdate = named('AuditRetentionPolicyUpdate', policies.input(['retentionDays', 'archiveToS3']));
export type RetentionUpdate = InputOf<typeof retentionUpdate>;
export const retentionShape = named('AuditRetentionPolicy', policies.answer());
