/** A role: a set of permissions, which may inherit another's (spec/1-identity, Role). */
import Joi from 'joi';
import { Model } from '#core';

export interface Pair {
  resource: string;
  action: string;
}

export class Role extends Model {
  static override tableName = 'roles';
  static override partnerOwned = true;
  declare id: string;
  declare partnerId: string | null;
  declare orgId: string | null;
  declare parentRoleId: string | null;
  declare scope: 'system' | 'partner' | 'organization';
  declare name: string;
  declare description: string | null;
  declare isSystem: boolean;
  declare forceMfa: boolean;
  declare userCount: number;
  declare createdAt: Date;
  declare updatedAt: Date;
}

export const roleShape = Joi.object({
  id: Joi.string().uuid().required(),
  partnerId: Joi.string().uuid().allow(null).required(),
  orgId: Joi.string().uuid().allow(null).required(),
  parentRoleId: Joi.string().uuid().allow(null).required(),
  scope: Joi.string().valid('system', 'partner', 'organization').required(),
  name: Joi.string().required(),
  description: Joi.string().allow(null).required(),
  isSystem: Joi.boolean().required(),
  forceMfa: Joi.boolean().required(),
  userCount: Joi.number().integer().required().description('Users within the reach of the caller'),
  createdAt: Joi.date().iso().required(),
  updatedAt: Joi.date().iso().required(),
});
export const pairShape = Joi.object({ resource: Joi.string().required(), action: Joi.string().required() });
export const roleDetail = roleShape.keys({ permissions: Joi.array().items(pairShape).required() });
export const catalogEntry = pairShape.keys({
  id: Joi.string().uuid().required(),
  description: Joi.string().allow(null).required(),
});
