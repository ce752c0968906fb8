/** A user in one of the places where the user holds a role. */
import Joi from 'joi';
import { Model, named } from '#core';

/** Rows of a query, not of a table: see services/role-holders.ts. */
export class RoleHolder extends Model {
  static override tableName = 'role_holders';
  static override partnerOwned = true;
  declare id: string;
  declare name: string;
  declare email: string;
  declare status: 'active' | 'invited' | 'disabled';
  declare orgId: string | null;
  declare partnerId: string | null;
  declare place: string;
}

export const holderShape = named(
  'RoleHolder',
  Joi.object({
    id: Joi.string().uuid().required(),
    name: Joi.string().required(),
    email: Joi.string().required(),
    status: Joi.string().valid('active', 'invited', 'disabled').required(),
    orgId: Joi.string().uuid().allow(null).required().description('The organization where the user holds the role'),
    partnerId: Joi.string().uuid().allow(null).required().description('The partner where the user holds the role'),
  }),
);
