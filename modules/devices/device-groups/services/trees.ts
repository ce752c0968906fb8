/**
 * The tree of groups in an organization, for display and targeting; a device of a group is not a member of the groups above it.
 */
import type { Context } from '#core';
import { GroupNotFound, TreeCycle, TreeTooDeep } from '../errors.ts';
import { takeTreeTurn } from './evaluating/turns.ts';
import { groupsIn } from './reach.ts';

const MAX_LEVELS = 5;

/** The groups above a group, from the root down. Limited callers also see their names. */
export async function ancestorsOf(ctx: Context, group: { id: string; orgId: string }) {
  // reach: the names of the groups above a visible one are shown to every caller who sees it
  const { rows } = await ctx.sql<{ id: string; name: string }>(
    `with recursive up as (
       select id, parent_id, name, 0 as step from device_groups where id = $1 and org_id = $2
       union all select g.id, g.parent_id, g.name, up.step + 1 from device_groups g join up on g.id = up.parent_id
       where up.step < 20)
     select id, name from up where step > 0 order by step desc`,
    [group.id, group.orgId],
  );
  return rows;
}

/** The number of levels from the group down: 1 for a group without children. */
async function heightOf(ctx: Context, groupId: string): Promise<number> {
  // reach: the names of the groups above a visible one are shown to every caller who sees it
  const { rows } = await ctx.sql<{ height: number }>(
    `with recursive down as (
       select id, 1 as level from device_groups where id = $1
       union all select g.id, down.level + 1 from device_groups g join down on g.parent_id = down.id where down.level < 20)
     select max(level) as height from down`,
    [groupId],
  );
  return rows[0]?.height ?? 1;
}

/**
 * Makes sure that a group, or a new one, can have this parent. Other changes of the tree wait until this transaction ends. Throws
 * 404 for a parent out of reach or of another organization, 422 for a cycle or a sixth level.
 */
export async function mustFitBelow(ctx: Context, orgId: string, parentId: string, groupId?: string): Promise<void> {
  await takeTreeTurn(ctx, orgId);
  const parent = await groupsIn(ctx).findById(parentId).where({ orgId });
  if (!parent) throw GroupNotFound();
  const above = await ancestorsOf(ctx, parent);
  if (groupId && (parentId === groupId || above.some(({ id }) => id === groupId))) throw TreeCycle();
  const height = groupId ? await heightOf(ctx, groupId) : 1;
  if (above.length + 1 + height > MAX_LEVELS) throw TreeTooDeep();
}
