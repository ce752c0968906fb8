/** The log of memberships: which devices joined a group or left it, and why. */
import { type Context, page, type SortKey } from '#core';
import { type LogQuery, MembershipChange } from '../../models/membership.ts';
import { mustSee } from '../reach.ts';

const TABLE = 'device_group_membership_log';
const ORDER = {
  name: 'device-group-changes-newest',
  keys: [
    { expression: `${TABLE}.created_at`, direction: 'desc', type: 'timestamptz' },
    { expression: `${TABLE}.id`, direction: 'desc', type: 'uuid' },
  ] satisfies SortKey[],
};
/** Days for which the log is kept. */
const RETENTION_DAYS = 180;

/** Newest first, without devices that the caller does not see now. Throws 404. */
export async function listChanges(ctx: Context, groupId: string, query: LogQuery) {
  const { orgId } = await mustSee(ctx, groupId);
  const { deviceId, action, reason, from, to } = query;
  const changes = MembershipChange.in(ctx)
    .select(
      ...(['id', 'groupId', 'groupName', 'deviceId', 'hostname', 'action', 'reason'] as const).map(
        (name) => `${TABLE}.${name}`,
      ),
      ...(['actorType', 'actorId', 'evaluationId', 'createdAt'] as const).map((name) => `${TABLE}.${name}`),
    )
    .where({ groupId, [`${TABLE}.orgId`]: orgId });
  if (deviceId) changes.where(`${TABLE}.deviceId`, deviceId);
  if (action) changes.where(`${TABLE}.action`, action);
  if (reason) changes.where(`${TABLE}.reason`, reason);
  if (from) changes.where(`${TABLE}.createdAt`, '>=', from);
  if (to) changes.where(`${TABLE}.createdAt`, '<=', to);
  return page(changes, query, ORDER);
}

/** Drops old partitions of the log. Platform role. */
export async function dropOldChanges(ctx: Context): Promise<void> {
  await ctx.sql('select drop_daily_partitions($1::regclass, $2)', [TABLE, RETENTION_DAYS]);
}
