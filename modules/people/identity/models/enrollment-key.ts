/** An enrollment key: brings new agents into an organization. The raw key is returned only when it is created. */
import Joi from 'joi';
import { Model, named } from '#core';

export interface EnrollmentKeyCreate {
  orgId?: string;
  siteId?: string | null;
  name: string;
  maxUsage: number;
  expiresAt?: Date;
}
export interface EnrollmentKeyRotate {
  maxUsage?: number | null;
  expiresAt?: Date;
}

export class EnrollmentKey extends Model {
  static override tableName = 'enrollment_keys';
  static override siteColumn = 'site_id';
  declare id: string;
  declare orgId: string;
  declare siteId: string | null;
  declare name: string;
  declare usageCount: number;
  declare maxUsage: number | null;
  declare expiresAt: Date;
  declare createdBy: string;
  declare createdAt: Date;
}

/** Everything but the hash. */
export function showEnrollmentKey(row: EnrollmentKey) {
  const { id, orgId, siteId, name, usageCount, maxUsage, expiresAt, createdBy, createdAt } = row;
  return { id, orgId, siteId, name, usageCount, maxUsage, expiresAt, createdBy, createdAt };
}

const maxUsage = Joi.number().integer().min(1).max(100_000);

export const enrollmentKeyShape = named(
  'EnrollmentKey',
  Joi.object({
    id: Joi.string().uuid().required(),
    orgId: Joi.string().uuid().required(),
    siteId: Joi.string().uuid().allow(null).required(),
    name: Joi.string().required(),
    usageCount: Joi.number().integer().required(),
    maxUsage: Joi.number().integer().allow(null).required(),
    expiresAt: Joi.date().iso().required(),
    createdBy: Joi.string().uuid().required(),
    createdAt: Joi.date().iso().required(),
  }),
);
export const enrollmentKeyOnce = named(
  'EnrollmentKeyWithValue',
  enrollmentKeyShape.keys({
    key: Joi.string().hex().length(64).required().description('The raw key; it cannot be shown again'),
  }),
);
export const enrollmentKeyCreate = named(
  'EnrollmentKeyCreate',
  Joi.object<EnrollmentKeyCreate, true>({
    orgId: Joi.string().uuid().description('Required for partner and system scope'),
    siteId: Joi.string().uuid().allow(null).description('Pins the agents to this site'),
    name: Joi.string().trim().min(1).max(255).required(),
    maxUsage: maxUsage.default(1),
    expiresAt: Joi.date().iso().description('An hour from now unless configured otherwise'),
  }),
);
export const enrollmentKeyRotate = named(
  'EnrollmentKeyRotate',
  Joi.object<EnrollmentKeyRotate, true>({
    maxUsage: maxUsage.allow(null).description('null = unlimited; kept when absent'),
    expiresAt: Joi.date().iso().description('Kept when absent'),
  }).allow(null),
);
