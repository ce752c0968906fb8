/** Which roles can be assigned, for modules that assign them. */
import { type Context, errors, mustHold, type TenantRef } from '#core';
import { ofTenant, Role } from '../models/role.ts';
import { permissionsOf } from './permissions.ts';

export type AssignableRole = Pick<
  Role,
  'id' | 'name' | 'description' | 'scope' | 'isSystem' | 'forceMfa' | 'parentRoleId'
>;

// Not Role.in(ctx): during a login or when an invitation is accepted the caller has no scope yet.
const rolesOf = (ctx: Context, tenant: TenantRef) =>
  Role.query(ctx.trx)
    .whereRaw(...ofTenant(tenant))
    .select('id', 'name', 'description', 'scope', 'isSystem', 'forceMfa', 'parentRoleId');

/** The roles that can be assigned in a tenant, by name: built-in ones and at most 200 custom ones. */
export const assignable = async (ctx: Context, tenant: TenantRef): Promise<AssignableRole[]> =>
  rolesOf(ctx, tenant).orderByRaw('lower(name), id');

/** One of assignable(). Throws 404 with the path where the request named it. */
export async function mustBeAssignable(
  ctx: Context,
  roleId: string,
  tenant: TenantRef,
  path = 'roleId',
): Promise<AssignableRole> {
  const role = await rolesOf(ctx, tenant).findById(roleId);
  if (!role) throw noRole(path);
  return role;
}

/**
 * Throws 404 for a role of another tenant, 403 when it grants what the caller does not hold. The role cannot be deleted until
 * this transaction ends.
 */
export async function mustAssign(ctx: Context, roleId: string, tenant: TenantRef, path = 'roleId') {
  const { id, name, scope, isSystem, forceMfa } = await mustBeAssignable(ctx, roleId, tenant, path);
  // Built-in roles are never deleted, and a tenant must not lock them.
  if (!isSystem && !(await Role.query(ctx.trx).findById(id).forKeyShare())) throw noRole(path);
  mustHold(ctx, await permissionsOf(ctx, roleId), path);
  return { id, name, scope, forceMfa };
}

const noRole = (path: string) => errors.NotFound({ message: 'Role not found', details: [{ path }] });
