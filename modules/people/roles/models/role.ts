/** A role: a set of permissions, which may inherit another's. */
import Joi from 'joi';
import { column, defineTable, type InputOf, named, printedText, type TenantRef } from '#core';

/** Longest chain from a role to its last parent, including both. */
export const MOST_IN_CHAIN = 10;
/** Custom roles of a tenant. */
export const MOST_ROLES = 200;

/** A permission of the catalog. */
export interface Pair {
  resource: string;
  action: string;
}
export interface TenantNamed {
  orgId?: string;
  partnerId?: string;
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

const printed = (max: number) => printedText(max).normalize('NFC');
export const pair = named(
  'Permission',
  Joi.object<Pair, true>({
    resource: printed(100).required(),
    action: printed(50).required(),
  }),
);

const uuid = Joi.string().uuid();
const roles = defineTable('roles', {
  id: column.uuid(),
  partnerId: column.nullable(column.uuid()),
  orgId: column.nullable(column.uuid()),
  parentRoleId: column.of<string | null>(
    uuid.allow(null).description('A role of the same tenant and scope, or a built-in one'),
    uuid.allow(null),
  ),
  scope: column.oneOf('system', 'partner', 'organization'),
  name: column.text(printed(100).min(1)),
  description: column.of<string | null>(
    Joi.string()
      .trim()
      .max(1000)
      .pattern(/^[^\0]*$/, { name: 'text' })
      .allow(null, ''),
    Joi.string().allow(null, ''),
  ),
  isSystem: column.boolean(),
  forceMfa: column.of<boolean>(
    Joi.boolean().description('Users with this role must enroll an authenticator app'),
    Joi.boolean(),
  ),
  userCount: column.of<number>(
    Joi.number().integer(),
    Joi.number().integer().description('Users whom the caller can see'),
  ),
  createdAt: column.time(),
  updatedAt: column.time(),
});

export class Role extends roles.Model {
  static override partnerOwned = true;
}

const permissions = Joi.array().items(pair).max(200).unique().description('Pairs of GET /permissions/catalog');
const tenantFields = {
  orgId: uuid.description('For partner and system callers: the organization that gets the role'),
  partnerId: uuid.description('For system callers: the partner that gets the role'),
};
const CHANGEABLE = ['name', 'description', 'parentRoleId', 'forceMfa'] as const;
const update = roles.input(CHANGEABLE);
export type RoleUpdate = InputOf<typeof update> & { permissions?: Pair[] };
export type RoleCreate = RoleUpdate & TenantNamed & { name: string };
export type RoleClone = TenantNamed & { name: string };
export const roleUpdate = named('RoleUpdate', update.append<RoleUpdate>({ permissions }));
export const roleCreate = named(
  'RoleCreate',
  roles.input(CHANGEABLE, { required: ['name'] }).append<RoleCreate>({ permissions, ...tenantFields }),
);
export const roleClone = named(
  'RoleClone',
  roles.input(['name'], { required: ['name'] }).append<RoleClone>(tenantFields),
);

export const roleShape = named('Role', roles.answer());
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
    id: uuid.required(),
    description: Joi.string().allow(null).required(),
  }),
);
export const effectivePair = named(
  'EffectivePermission',
  pairShape.keys({
    inherited: Joi.boolean().required(),
    source: Joi.object({ id: uuid.required(), name: Joi.string().required() })
      .required()
      .description('The nearest role in the chain that has the permission'),
  }),
);
