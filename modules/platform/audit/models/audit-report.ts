/** Response schemas of the reports and the statistics. */
import Joi from 'joi';
import { auditShape, orgFilter, rangeFilters } from './audit-log.ts';

export interface ReportQuery {
  from?: Date;
  to?: Date;
  orgId?: string;
}
export const reportQuery = Joi.object<ReportQuery>({ ...rangeFilters, orgId: orgFilter });

const count = Joi.number().integer().min(0).required();
const text = Joi.string().allow(null, '').required();
export const actionCount = Joi.object({ action: Joi.string().required(), count });
const byAction = Joi.array().items(actionCount).required();
const activity = Joi.object({
  userId: Joi.string().uuid().required(),
  userName: text,
  userEmail: text,
  actionCount: count,
  lastActiveAt: Joi.date().iso().required(),
});

export const userActivityShape = Joi.object({
  totalUsers: count,
  totalEvents: count,
  actionsPerUser: Joi.array().items(activity).required(),
  topUsers: Joi.array().items(activity).max(5).required(),
  recentActivity: Joi.array().items(auditShape).max(10).required(),
});
export const securityEventsShape = Joi.object({
  totalEvents: count,
  loginAttempts: count,
  failedLogins: count,
  permissionChanges: count,
  byAction,
  recentEvents: Joi.array().items(auditShape).max(10).required(),
});
export const complianceShape = Joi.object({
  totalEvents: count,
  dataAccess: count,
  dataChanges: count,
  exports: count,
  byAction,
  recentEvents: Joi.array().items(auditShape).max(10).required(),
});
export const statsShape = Joi.object({
  totalEvents: count,
  byCategory: Joi.array()
    .items(Joi.object({ category: Joi.string().required(), count }))
    .required(),
  byUser: Joi.array()
    .items(Joi.object({ userId: Joi.string().uuid().required(), userName: text, actionCount: count }))
    .required(),
  range: Joi.object({
    from: Joi.date().iso().allow(null).required(),
    to: Joi.date().iso().allow(null).required(),
  }).required(),
});
