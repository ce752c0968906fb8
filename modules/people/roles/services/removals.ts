/** Deleting roles that nothing refers to. */
import { type Context, databaseErrorOf } from '#core';
import { RoleInUse } from '../errors.ts';
import { Role } from '../models/role.ts';
import { holdForChange } from './administration.ts';

/** Throws ROLE_IN_USE with the number of users, child roles and other references. */
export async function deleteRole(ctx: Context, id: string): Promise<{ success: true }> {
  const role = await holdForChange(ctx, id, 'delete');
  const uses = await usesOf(ctx, id);
  if (Object.values(uses).some((count) => count > 0)) throw inUse(uses);
  await Role.in(ctx).deleteById(id).catch(referred);
  ctx.audit('role.delete', {
    orgId: role.orgId,
    partnerId: role.partnerId,
    resourceType: 'role',
    resourceId: id,
    resourceName: role.name,
  });
  return { success: true };
}

async function usesOf(ctx: Context, id: string): Promise<{ users: number; children: number } & Record<string, number>> {
  const { rows } = await ctx.sql<{ users: number; children: number }>(
    `select ((select count(*) from organization_users where role_id = $1)
           + (select count(*) from partner_users where role_id = $1))::int as users,
       (select count(*) from roles where parent_role_id = $1)::int as children`,
    [id],
  );
  const uses: { users: number; children: number } & Record<string, number> = rows[0] ?? { users: 0, children: 0 };
  for (const usage of ctx.contributions('roles.usage')) {
    const { name, count } = await usage.count(ctx, id);
    uses[name] = (uses[name] ?? 0) + count;
  }
  return uses;
}

const inUse = (uses: Record<string, number>) =>
  RoleInUse({
    message: `Cannot delete a role in use: ${Object.entries(uses)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')}`,
    details: [uses],
  });

/** A foreign key refers to the role from a table that no contribution counted. */
function referred(error: unknown): never {
  const fault = databaseErrorOf(error);
  if (fault?.code !== '23503') throw error;
  throw RoleInUse({ details: [{ usedBy: fault.table }] });
}
