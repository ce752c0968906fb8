/** What refers to a group: users who are limited to it, and objects of other modules that have it as a target. */
import type { Context } from '#core';
import type { GroupUsage } from '../models/group-usage.ts';

export type UsedBy = Record<GroupUsage['kind'] | 'users', number>;

export async function usedBy(ctx: Context, group: { id: string; orgId: string }): Promise<UsedBy> {
  const { rows } = await ctx.sql<{ users: number }>(
    'select count(*) as users from organization_users where org_id = $2 and $1 = any(device_group_ids)',
    [group.id, group.orgId],
  );
  const counts: UsedBy = {
    policies: 0,
    alertRules: 0,
    automations: 0,
    maintenanceWindows: 0,
    deployments: 0,
    users: rows[0]?.users ?? 0,
  };
  for (const usage of ctx.contributions('device-groups.usage')) counts[usage.kind] += await usage.count(ctx, group.id);
  return counts;
}

/**
 * Removes the group from everything that refers to it. Users who are limited to this group only keep its id: they see nothing
 * then, whereas an empty list would let them see everything.
 */
export async function release(ctx: Context, group: { id: string; orgId: string }): Promise<void> {
  await ctx.sql(
    `update organization_users set device_group_ids = array_remove(device_group_ids, $1::uuid)
     where org_id = $2 and $1 = any(device_group_ids) and device_group_ids <> array[$1::uuid]`,
    [group.id, group.orgId],
  );
  for (const usage of ctx.contributions('device-groups.usage')) await usage.release(ctx, group.id);
}
