/** One sealed entry of the audit trail; core's sealer writes them, nobody changes them. */

import Joi from 'joi';
import { Model, type PageQuery, pageQuery } from '#core';

export class AuditLog extends Model {
  static override tableName = 'audit_logs';
  static override partnerOwned = true;
  static override jsonAttributes = ['details'];
  declare id: string;
  declare orgId: string | null;
  declare timestamp: Date;
  declare actorType: string;
  declare actorId: string;
  declare actorEmail: string | null;
  declare actorName: string | null;
  declare action: string;
  declare resourceType: string;
  declare resourceId: string;
  declare resourceName: string | null;
  declare details: Record<string, unknown>;
  declare ipAddress: string | null;
  declare userAgent: string | null;
  declare result: 'success' | 'failure' | 'denied';
}

/** spec/3-operations, "Common list filters"; `orgId` is for callers who reach several organizations. */
export interface AuditQuery extends PageQuery {
  user?: string;
  action?: string;
  resource?: string;
  from?: Date;
  to?: Date;
  orgId?: string;
  skipCount?: boolean;
}
const part = Joi.string().trim().min(1).max(255);
export const auditQuery = Joi.object<AuditQuery>({
  ...pageQuery(),
  user: part.description("Part of the actor's email or name, in any case"),
  action: part.description('Part of the action, in any case'),
  resource: part.description("Part of the resource's type or name, in any case"),
  from: Joi.date().iso().description('Earliest time, inclusive'),
  to: Joi.date().iso().description('Latest time, inclusive'),
  orgId: Joi.string().uuid(),
  skipCount: Joi.boolean().description('Leaves out the total, which costs most on a long trail'),
});

const text = Joi.string().allow(null, '').required();
export const auditShape = Joi.object({
  id: Joi.string().uuid().required(),
  orgId: Joi.string().uuid().allow(null).required(),
  timestamp: Joi.date().iso().required(),
  user: Joi.object({ id: Joi.string().required(), name: text, email: text, role: text }).required(),
  action: Joi.string().required(),
  resource: Joi.object({ type: Joi.string().required(), id: Joi.string().required(), name: text }).required(),
  category: Joi.string().required(),
  result: Joi.string().valid('success', 'failure', 'denied').required(),
  ipAddress: text,
  userAgent: text,
  details: Joi.object().unknown().required(),
});
export const verdictShape = Joi.object({
  owner: Joi.string().required(),
  checked: Joi.number().integer().required(),
  ok: Joi.boolean().required(),
  firstBad: Joi.object({
    id: Joi.string().allow('').required(),
    seq: Joi.number().integer().required(),
    problem: Joi.string().valid('altered', 'missing before', 'not chained', 'cut off').required(),
  })
    .allow(null)
    .required(),
});
