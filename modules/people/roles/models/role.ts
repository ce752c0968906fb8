/** A role: a set of permissions, which may inherit another's. */
import Joi from 'joi';
import { Model, named, type TenantRef } from '#core';

/** Longest chain from a role to its last parent, including both. */
export const MOST_IN_CHAIN = 10;
/** Custom roles of a tenant. */
export const MOST_ROLES = 200;

/** A permission of the catalog. */
export interface Pair {
  resource: string;
  action: string;
}
export interface RoleUpdate {
  name?: string;
  description?: string | null;
  permissions?: Pair[];
  parentRoleId?: string | null;
  forceMfa?: boolean;
}
export interface TenantNamed {
  orgId?: string;
  partnerId?: string;
}
export interface RoleCreate extends RoleUpdate, TenantNamed {
  name: string;
}
export interface RoleClone extends TenantNamed {
  name: string;
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

export const wordOf = ({ resource, action }: Pair): string => `${resource}:${action}`;

/**
 * SQL: the roles that exist in a tenant, which are its custom ones and the built-in ones of its scope. It names the tenant
 * itself, because on the platform's role row-level security admits every role.
 */
export function ofTenant({ orgId, partnerId }: TenantRef): [sql: string, values: (string | null)[]] {
  if (orgId === null) return [`roles.scope = 'partner' and roles.partner_id = ?`, [partnerId]];
  return [
    `roles.scope = 'organization' and (roles.org_id = ?
       or (roles.is_system and num_nonnulls(roles.org_id, roles.partner_id) = 0))`,
    [orgId],
  ];
}

const id = Joi.string().uuid();
// PostgreSQL cannot store NUL, and no name needs another control character.
const PRINTED = /^\P{Cc}*$/u;
const printed = (max: number) =>
  Joi.string().trim().normalize('NFC').max(max).pattern(PRINTED, { name: 'printable characters' });
export const pair = named(
  'Permission',
  Joi.object<Pair, true>({
    resource: printed(100).required(),
    action: printed(50).required(),
  }),
);
const changes = {
  name: printed(100).min(1),
  description: Joi.string()
    .trim()
    .max(1000)
    .pattern(/^[^\0]*$/, { name: 'text' })
    .allow(null, ''),
  permissions: Joi.array().items(pair).max(200).unique().description('Pairs of GET /permissions/catalog'),
  parentRoleId: id.allow(null).description('A role of the same tenant and scope, or a built-in one'),
  forceMfa: Joi.boolean().description('Users with this role must enroll an authenticator app'),
};
const tenantFields = {
  orgId: id.description('For partner and system callers: the organization that gets the role'),
  partnerId: id.description('For system callers: the partner that gets the role'),
};
export const roleCreate = named(
  'RoleCreate',
  Joi.object<RoleCreate, true>({ ...changes, name: changes.name.required(), ...tenantFields }),
);
export const roleUpdate = named('RoleUpdate', Joi.object<RoleUpdate, true>(changes));
export const roleClone = named(
  'RoleClone',
  Joi.object<RoleClone, true>({ name: changes.name.required(), ...tenantFields }),
);

export const roleShape = named(
  'Role',
  Joi.object({
    id: id.required(),
    partnerId: id.allow(null).required(),
    orgId: id.allow(null).required(),
    parentRoleId: id.allow(null).required(),
    scope: Joi.string().valid('system', 'partner', 'organization').required(),
    name: Joi.string().required(),
    description: Joi.string().allow(null, '').required(),
    isSystem: Joi.boolean().required(),
    forceMfa: Joi.boolean().required(),
    userCount: Joi.number().integer().required().description('Users whom the caller can see'),
    createdAt: Joi.date().iso().required(),
    updatedAt: Joi.date().iso().required(),
  }),
);
const pairShape = Joi.object({ resource: Joi.string().required(), action: Joi.string().required() });
export const roleDetail = named(
  'RoleDetail',
  roleShape.keys({
    permissions: Joi.array().items(pairShape).required().description('Direct permissions, without inherited ones'),
  }),
);
export const catalogEntry = named(
  'CatalogPermission',
  pairShape.keys({
    id: id.required(),
    description: Joi.string().allow(null).required(),
  }),
);
export const effectivePair = named(
  'EffectivePermission',
  pairShape.keys({
    inherited: Joi.boolean().required(),
    source: Joi.object({ id: id.required(), name: Joi.string().required() })
      .required()
      .description('The nearest role in the chain that has the permission'),
  }),
);
