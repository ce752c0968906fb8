/** Sealed entries of the audit trail: query and response schemas. */

import Joi from 'joi';
import { type PageQuery, pageOf, pageQuery } from '#core';

/** Filters of lists, searches, exports and reports; `orgId` is for callers who reach several organizations. */
export interface AuditFilter {
  user?: string;
  action?: string;
  resource?: string;
  from?: Date;
  to?: Date;
  orgId?: string;
  /** Part of the action, the actor's email, the resource's type or name, or the details. */
  q?: string;
  actorId?: string;
}
export interface AuditQuery extends PageQuery, AuditFilter {
  skipCount?: boolean;
}
export interface AuditSearch extends AuditQuery {
  q: string;
}
const part = Joi.string().trim().min(1).max(255);
export const partFilters = {
  user: part.description("Part of the actor's email or name, case-insensitive"),
  action: part.description('Part of the action, case-insensitive'),
  resource: part.description("Part of the resource's type or name, case-insensitive"),
};
export const rangeFilters = {
  from: Joi.date().iso().description('Earliest time, inclusive'),
  to: Joi.date().iso().description('Latest time, inclusive'),
};
export const orgFilter = Joi.string().uuid().description('One of the organizations that the caller reaches');
export const filterFields = { ...partFilters, ...rangeFilters, orgId: orgFilter };

const listFields = {
  ...pageQuery(50, 100),
  ...filterFields,
  skipCount: Joi.boolean().description('Omits the total, the most expensive part on a long trail'),
};
export const auditQuery = Joi.object<AuditQuery>(listFields);
export const auditSearch = Joi.object<AuditSearch>({
  ...listFields,
  q: part
    .required()
    .description(
      "Part of the action, the actor's email, the resource's type or name, or the details; case-insensitive",
    ),
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
export const auditPage = pageOf(auditShape);

/** The flat form of GET /audit-logs. */
export const flatPage = Joi.object({
  entries: Joi.array()
    .items(
      Joi.object({
        id: Joi.string().uuid().required(),
        timestamp: Joi.date().iso().required(),
        action: Joi.string().required(),
        resource: Joi.string().required(),
        resourceType: Joi.string().required(),
        details: Joi.string().required(),
        ipAddress: text,
        userAgent: text,
        sessionId: text,
        user: Joi.object({ name: text, email: text, role: text, department: text }).required(),
        changes: Joi.object({ before: Joi.any().required(), after: Joi.any().required() }).required(),
      }),
    )
    .required(),
  pagination: Joi.object({
    page: Joi.number().integer(),
    limit: Joi.number().integer(),
    total: Joi.number().integer(),
    totalPages: Joi.number().integer(),
    hasMore: Joi.boolean(),
    cursor: Joi.string().allow(null),
  }).required(),
});
