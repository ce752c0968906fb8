/** Which roles can be given to somebody, asked by modules that give them. */
import { type Context, errors, mustHold, type TenantRef } from '#core';
import { ofTenant, Role } from '../models/role.ts';
import { permissionsOf } from './permissions.ts';

export type AssignableRole = Pick<
  Role,
  'id' | 'name' | 'description' | 'scope' | 'isSystem' | 'forceMfa' | 'parentRoleId'
>;

// Not Role.in(ctx): the caller of a login or an acceptance reaches nothing yet.
const rolesOf = (ctx: Context, tenant: TenantRef) =>
  Role.query(ctx.trx)
    .whereRaw(...ofTenant(tenant))
    .select('id', 'name', 'description', 'scope', 'isSystem', 'forceMfa', 'parentRoleId');

/** The roles that can be given in a tenant, by name: built-in ones and at most 200 of its own. */
export const assignable = async (ctx: Context, tenant: TenantRef): Promise<AssignableRole[]> =>
  rolesOf(ctx, tenant).orderByRaw('lower(name), id');

/** One of assignable(). Throws 404 with the path where the request named it. */
export async function mustBeAssignable(
  ctx: Context,
  roleId: string,
  tenant: TenantRef,
  path: string,
): Promise<AssignableRole> {
  const role = await rolesOf(ctx, tenant).findById(roleId);
  if (!role) throw noRole(path);
  return role;
}

/**
 * Throws 404 for a role of elsewhere, 403 when it grants what the caller does not hold. Until this transaction ends the
 * role cannot be removed.
 */
export async function mustAssign(ctx: Context, roleId: string, tenant: TenantRef, path: string) {
  const { id, name, scope, isSystem, forceMfa } = await mustBeAssignable(ctx, roleId, tenant, path);
  // Built-in roles stay, and no tenant may lock them.
  if (!isSystem && !(await Role.query(ctx.trx).findById(id).forKeyShare())) throw noRole(path);
  mustHold(ctx, await permissionsOf(ctx, roleId), path);
  return { id, name, scope, forceMfa };
}

const noRole = (path: string) => errors.NotFound({ message: 'Role not found', details: [{ path }] });
