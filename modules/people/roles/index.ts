/** Roles and permissions: what people may do, and who may give it to them. */
import { type Context, defineModule, type TenantRef } from '#core';
import {
  catalogEntry,
  effectivePair,
  pair,
  roleClone,
  roleCreate,
  roleDetail,
  roleShape,
  roleUpdate,
} from './models/role.ts';
import { holderShape } from './models/role-holder.ts';
import type { RoleUsage } from './models/role-usage.ts';
import { assignable, mustAssign } from './services/assignments.ts';
import { permissionsOf } from './services/permissions.ts';

// All of it also on platform work: the tenant is named, never taken from the caller's reach.
const api = (ctx: Context) => ({
  /**
   * The role, which this caller may give to a user of this tenant. Throws 404 `Role not found` when it is not one of the
   * tenant's, and 403 when it grants what the caller does not hold. `path` is where the request named it. The role stays
   * until this transaction ends.
   */
  mustAssign: (roleId: string, tenant: TenantRef, path = 'roleId') => mustAssign(ctx, roleId, tenant, path),
  /** The roles that can be given in this tenant, by name: built-in ones and at most 200 of its own. */
  assignable: (tenant: TenantRef) => assignable(ctx, tenant),
  /** Every pair `resource:action` that the role grants, inherited ones included, sorted. */
  permissionsOf: (roleId: string) => permissionsOf(ctx, roleId),
});

declare module '#core/contract' {
  interface Apis {
    roles: ReturnType<typeof api>;
  }
  interface Slots {
    'roles.usage': RoleUsage;
  }
}

export default defineModule({
  name: 'roles',
  title: 'Roles and permissions',
  summary: 'Built-in and own roles, what they grant, and who may give them',
  requires: [],
  core: true,
  permissions: ['users:read', 'users:write', 'users:delete'],
  audits: ['role.create', 'role.update', 'role.delete', 'role.clone'],
  slots: ['roles.usage'],
  steadySlots: ['roles.usage'],
  schemas: {
    CatalogPermission: catalogEntry,
    EffectivePermission: effectivePair,
    Permission: pair,
    Role: roleShape,
    RoleClone: roleClone,
    RoleCreate: roleCreate,
    RoleDetail: roleDetail,
    RoleHolder: holderShape,
    RoleUpdate: roleUpdate,
  },
  api,
});
