/** An enrollment key: brings new agents into an organization. The raw key is returned only when it is created. */
import Joi from 'joi';
import { column, defineTable, type InputOf, named } from '#core';

export interface EnrollmentKeyRotate {
  maxUsage?: number | null;
  expiresAt?: Date;
}

/** Tags that a key gives at most. */
const MAX_TAGS = 20;
const maxUsage = Joi.number().integer().min(1).max(100_000);

const keys = defineTable('enrollment_keys', {
  id: column.uuid(),
  orgId: column.uuid(),
  siteId: column.of<string | null>(
    Joi.string().uuid().allow(null).description('Pins the agents to this site'),
    Joi.string().uuid().allow(null),
  ),
  name: column.text(Joi.string().trim().min(1).max(255)),
  tags: column.of<string[]>(
    Joi.array()
      .items(Joi.string().max(255))
      .max(MAX_TAGS)
      .description('New devices that enroll with the key have these'),
    Joi.array().items(Joi.string()),
  ),
  usageCount: column.integer(),
  maxUsage: column.of<number | null>(maxUsage, Joi.number().integer().allow(null)),
  expiresAt: column.time(),
  createdBy: column.uuid(),
  createdAt: column.time(),
});

export class EnrollmentKey extends keys.Model {
  static override siteColumn = 'site_id';
}

/** Everything but the hash. */
export function showEnrollmentKey(row: EnrollmentKey) {
  const { id, orgId, siteId, name, tags, usageCount, maxUsage, expiresAt, createdBy, createdAt } = row;
  return { id, orgId, siteId, name, tags, usageCount, maxUsage, expiresAt, createdBy, createdAt };
}

export const enrollmentKeyShape = named('EnrollmentKey', keys.answer());
export const enrollmentKeyOnce = named(
  'EnrollmentKeyWithValue',
  enrollmentKeyShape.keys({
    key: Joi.string().hex().length(64).required().description('The raw key; it cannot be shown again'),
  }),
);
const created = keys.input(['siteId', 'name', 'tags'], { required: ['name'] });
export type EnrollmentKeyCreate = InputOf<typeof created> & { orgId?: string; maxUsage: number; expiresAt?: Date };
export const enrollmentKeyCreate = named(
  'EnrollmentKeyCreate',
  created.append<EnrollmentKeyCreate>({
    orgId: Joi.string().uuid().description('Required for partner and system scope'),
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
