/** Creating custom roles, from scratch or as a copy. */
import { type Context, errors, mustHold, type TenantRef, targetTenant } from '#core';
import { RoleLimit } from '../errors.ts';
import { MOST_ROLES, type Pair, Role, type RoleClone, type RoleCreate, wordOf } from '../models/role.ts';
import { mustAdminister, takeTurn } from './administration.ts';
import { assignable } from './assignments.ts';
import { mustBeFree, taken } from './names.ts';
import { mustBeParent } from './parents.ts';
import {
  directPairs,
  effectivePairs,
  mustBeInCatalog,
  permissionsOf,
  readCatalog,
  replacePairs,
} from './permissions.ts';
import { readRole } from './roles.ts';
import { mustSee } from './visible.ts';

interface NewRole {
  name: string;
  description: string | null;
  forceMfa: boolean;
  parentRoleId: string | null;
  permissions: readonly Pair[];
}

/**
 * A role in the caller's scope, or for the tenant named. Throws 400 for permissions outside the catalog, 403 for those
 * that the caller does not hold, NAME_TAKEN, ROLE_TOO_DEEP, ROLE_LIMIT_REACHED.
 */
export async function createRole(ctx: Context, input: RoleCreate) {
  mustAdminister(ctx);
  const { permissions = [], description = null, forceMfa = false, parentRoleId = null, name } = input;
  const tenant = targetTenant(ctx, input);
  await mustBeInCatalog(ctx, permissions);
  const role = await make(ctx, tenant, { name, description, forceMfa, parentRoleId, permissions });
  ctx.audit('role.create', told(role, permissions));
  return readRole(ctx, role.id);
}

/**
 * A copy that grants what the source does. It keeps the parent when the tenant has that role, else it contains the inherited
 * permissions; instead of `*:*`, which tenants cannot assign, it gets every permission of the catalog.
 */
export async function cloneRole(ctx: Context, sourceId: string, input: RoleClone) {
  mustAdminister(ctx);
  const source = await mustSee(ctx, sourceId);
  const tenant = targetTenant(ctx, input);
  const parents = source.parentRoleId ? (await assignable(ctx, tenant)).map(({ id }) => id) : [];
  const parentRoleId = parents.find((id) => id === source.parentRoleId) ?? null;
  const flat = source.parentRoleId !== null && parentRoleId === null;
  const copied = flat ? await effectivePairs(ctx, sourceId) : await directPairs(ctx, sourceId);
  const permissions = copied.some(({ resource }) => resource === '*') ? (await readCatalog(ctx)).data : copied;
  const { description, forceMfa } = source;
  const role = await make(ctx, tenant, { name: input.name, description, forceMfa, parentRoleId, permissions });
  const entry = told(role, permissions);
  ctx.audit('role.clone', {
    ...entry,
    details: { ...entry.details, sourceRoleId: source.id, sourceRoleName: source.name },
  });
  return readRole(ctx, role.id);
}

async function make(ctx: Context, tenant: TenantRef, { permissions, ...fields }: NewRole): Promise<Role> {
  await mustExist(ctx, tenant);
  await takeTurn(ctx, tenant);
  await mustBeFree(ctx, fields.name, tenant);
  const own = (await assignable(ctx, tenant)).filter(({ isSystem }) => !isSystem).length;
  if (own >= MOST_ROLES) throw RoleLimit();
  if (fields.parentRoleId) await mustBeParent(ctx, fields.parentRoleId, tenant, null);
  const role = await Role.query(ctx.trx)
    .insert({ ...fields, ...tenant, scope: tenant.orgId ? 'organization' : 'partner' })
    .returning('*')
    .catch(taken);
  await replacePairs(ctx, role.id, permissions);
  mustHold(ctx, await permissionsOf(ctx, role.id), 'permissions');
  return role;
}

/** Only system callers can name a tenant that does not exist. */
async function mustExist(ctx: Context, { orgId, partnerId }: TenantRef): Promise<void> {
  const { rows } = await ctx.sql(
    `select from organizations where id = $1 and deleted_at is null
     union all select from partners where id = $2 and deleted_at is null`,
    [orgId, partnerId],
  );
  if (rows.length === 0) throw errors.NotFound(orgId ? 'Organization not found' : 'Partner not found');
}

const told = (role: Role, permissions: readonly Pair[]) => ({
  orgId: role.orgId,
  partnerId: role.partnerId,
  resourceType: 'role',
  resourceId: role.id,
  resourceName: role.name,
  details: {
    permissions: permissions.map(wordOf).sort(),
    parentRoleId: role.parentRoleId,
    forceMfa: role.forceMfa,
  },
});
