/** Inheritance: which role may be another's parent. */
import type { Context, TenantRef } from '#core';
import { RoleCycle, RoleTooDeep } from '../errors.ts';
import { MOST_IN_CHAIN } from '../models/role.ts';
import { mustBeAssignable } from './assignments.ts';

const PATH = 'parentRoleId';
// Upwards from the parent and downwards from the role: together the longest chain that the change would create.
const CHAIN = `
with recursive up as (
  select id, parent_role_id, 1 as depth from roles where id = $1
  union all select r.id, r.parent_role_id, up.depth + 1 from roles r join up on r.id = up.parent_role_id
  where up.depth < 20),
down as (
  select id, 1 as depth from roles where id = $2
  union all select r.id, down.depth + 1 from roles r join down on r.parent_role_id = down.id where down.depth < 20)
select bool_or(up.id = $2) as cycle, max(up.depth) + coalesce((select max(depth) from down), 1) as length from up`;

/**
 * Throws 404 for a parent that does not exist in this tenant, ROLE_CYCLE and ROLE_TOO_DEEP. Correct only while the changes of
 * the tenant are serialized.
 * @param roleId null for a role that does not exist yet
 */
export async function mustBeParent(
  ctx: Context,
  parentId: string,
  tenant: TenantRef,
  roleId: string | null,
): Promise<void> {
  await mustBeAssignable(ctx, parentId, tenant, PATH);
  const { rows } = await ctx.sql<{ cycle: boolean | null; length: number }>(CHAIN, [parentId, roleId]);
  const details = [{ in: 'payload', path: PATH }];
  if (rows[0]?.cycle) throw RoleCycle({ details });
  if ((rows[0]?.length ?? 0) > MOST_IN_CHAIN) throw RoleTooDeep({ details });
}
