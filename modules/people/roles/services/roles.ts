/** Reading and changing roles. services/new-roles.ts creates them, services/removals.ts deletes them. */
import {
  type Context,
  changesOf,
  errors,
  keepAdministrators,
  mustHold,
  type PageQuery,
  page,
  type SortKey,
} from '#core';
import { Role, type RoleUpdate, type TenantNamed } from '../models/role.ts';
import { holdForChange } from './administration.ts';
import { mustBeFree, taken } from './names.ts';
import { mustBeParent } from './parents.ts';
import { directPairs, effectivePairs, mustBeInCatalog, permissionsOf, replacePairs } from './permissions.ts';
import { listedTenant, mustSee, visibleRoles } from './visible.ts';

const ORDER = {
  name: 'roles-by-name',
  keys: [
    { expression: 'lower(roles.name)', direction: 'asc', type: 'text' },
    { expression: 'roles.id', direction: 'asc', type: 'uuid' },
  ] satisfies SortKey[],
};

/** Built-in roles and those of the tenants within reach; of one tenant when it is named. */
export const listRoles = (ctx: Context, { orgId, partnerId, ...paging }: PageQuery & TenantNamed) =>
  page(
    visibleRoles(ctx, listedTenant(ctx, { ...(orgId && { orgId }), ...(partnerId && { partnerId }) })),
    paging,
    ORDER,
  );

/** The role with its direct permissions. */
export async function readRole(ctx: Context, id: string) {
  const role = await mustSee(ctx, id);
  return { ...role, permissions: await directPairs(ctx, id) };
}

/** Direct and inherited permissions, each once, with the nearest role that has it. */
export async function readEffective(ctx: Context, id: string) {
  await mustSee(ctx, id);
  const pairs = await effectivePairs(ctx, id);
  return {
    data: pairs.map(({ resource, action, depth, roleId, roleName }) => ({
      resource,
      action,
      inherited: depth > 0,
      source: { id: roleId, name: roleName },
    })),
  };
}

/**
 * Changes a custom role; the caller must hold everything that it grants before and after. Throws NO_UPDATES, NAME_TAKEN,
 * ROLE_CYCLE, ROLE_TOO_DEEP, and LAST_ADMINISTRATOR when no user could administer the tenant any more.
 */
export async function updateRole(ctx: Context, id: string, changes: RoleUpdate) {
  const role = await holdForChange(ctx, id, 'modify');
  if (Object.keys(changes).length === 0) throw errors.NoUpdates();
  mustHold(ctx, await permissionsOf(ctx, id), 'id');
  const { permissions, ...fields } = changes;
  if (permissions) await mustBeInCatalog(ctx, permissions);
  if (fields.name !== undefined) await mustBeFree(ctx, fields.name, role);
  if (fields.parentRoleId) await mustBeParent(ctx, fields.parentRoleId, role, id);
  const changedFields: string[] = Object.keys(fields).filter(
    (field) => fields[field as keyof typeof fields] !== role[field as keyof typeof fields],
  );
  const apply = async () => {
    const moved = permissions ? await replacePairs(ctx, id, permissions) : { added: [], removed: [] };
    if (moved.added.length + moved.removed.length > 0) changedFields.push('permissions');
    if (changedFields.length === 0) return moved;
    await Role.in(ctx)
      .findById(id)
      .patch({ ...fields, updatedAt: new Date() })
      .catch(taken);
    return moved;
  };
  const weighty = permissions !== undefined || changedFields.includes('parentRoleId');
  const { added, removed } = weighty ? await keepAdministrators(ctx, [role], apply) : await apply();
  mustHold(ctx, await permissionsOf(ctx, id), permissions ? 'permissions' : 'parentRoleId');
  if (changedFields.length === 0) ctx.unchanged();
  else {
    ctx.audit('role.update', {
      orgId: role.orgId,
      partnerId: role.partnerId,
      resourceType: 'role',
      resourceId: id,
      resourceName: fields.name ?? role.name,
      details: {
        ...changesOf(role, { ...role, ...fields }, changedFields),
        ...(changedFields.includes('permissions') && { added, removed }),
      },
    });
  }
  return readRole(ctx, id);
}
