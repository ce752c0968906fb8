/** Deletes groups. */
import { type Context, errors } from '#core';
import { GroupNotFound } from '../errors.ts';
import { DeviceGroup } from '../models/device-group.ts';
import { takeTreeTurn, takeTurn } from './evaluating/turns.ts';
import { removeMembers, settle } from './members/memberships.ts';
import { mustGrant, mustReachAll, mustSee } from './reach.ts';
import { release, usedBy } from './usages.ts';

/**
 * Deletes a group; the log of its members stays. Throws 404, TARGET_OUT_OF_SCOPE, and IN_USE {children, references}: for groups
 * below it always, for objects that refer to it unless `force` removes it from them.
 */
export async function deleteGroup(ctx: Context, id: string, force: boolean): Promise<{ success: true }> {
  const { orgId } = await mustSee(ctx, id);
  await takeTreeTurn(ctx, orgId);
  await takeTurn(ctx, id);
  const group = await mustSee(ctx, id);
  mustReachAll(ctx, group);
  mustGrant(ctx, group);
  const children = await DeviceGroup.in(ctx).where({ parentId: id }).resultSize();
  const references = await usedBy(ctx, group);
  const named = Object.values(references).some((count) => count > 0);
  if (children > 0 || (named && !force)) {
    throw errors.InUse({ message: 'The device group is in use', details: [{ children, references }] });
  }
  if (named) await release(ctx, group);
  // reach: mustReachAll above: the caller reaches every member
  const { rows } = await ctx.sql<{ ids: string[] }>(
    'select array(select device_id from device_group_members where group_id = $1 order by 1) as ids',
    [id],
  );
  const removed = await removeMembers(ctx, group, rows[0]?.ids ?? [], { reason: 'group_deleted' });
  await settle(ctx, group, { added: [], removed });
  const gone = await DeviceGroup.in(ctx).where({ id }).delete();
  if (gone === 0) throw GroupNotFound();
  const details = { deviceCount: removed.length, ...(named ? { references } : {}) };
  ctx.audit('device_group.delete', { orgId, resourceId: id, resourceName: group.name, details });
  return { success: true };
}
