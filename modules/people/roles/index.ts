/** Roles and permissions: what users may do, and who may assign it. */
import { type Context, defineModule, type TenantRef } from '#core';
import { assignable, mustAssign } from './services/assignments.ts';
import { permissionsOf } from './services/permissions.ts';

// Also works on the platform's role: the tenant is an argument, never the caller's scope.
const api = (ctx: Context) => ({
  /**
   * The role, when this caller may assign it to a user of this tenant. Throws 404 `Role not found` when it is not one of the
   * tenant's, and 403 when it grants what the caller does not hold. `path` is where the request named it. The role cannot be
   * deleted until this transaction ends.
   */
  mustAssign: (roleId: string, tenant: TenantRef, path = 'roleId') => mustAssign(ctx, roleId, tenant, path),
  /** The roles that can be assigned in this tenant, by name: built-in ones and at most 200 custom ones. */
  assignable: (tenant: TenantRef) => assignable(ctx, tenant),
  /** Every `resource:action` that the role grants, including inherited ones, sorted. */
  permissionsOf: (roleId: string) => permissionsOf(ctx, roleId),
});

declare module '#core/contract' {
  interface Apis {
    roles: ReturnType<typeof api>;
  }
}

export default defineModule({
  name: 'roles',
  title: 'Roles and permissions',
  summary: 'Built-in and custom roles, what they grant, and who may assign them',
  requires: [],
  core: true,
  api,
});
