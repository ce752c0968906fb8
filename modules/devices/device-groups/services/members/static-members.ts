/** Members of static groups: added and removed one by one. */
import type { Context } from '#core';
import { errors, isLimited } from '#core';
import { DynamicGroup, invalid } from '../../errors.ts';
import type { DeviceGroup } from '../../models/device-group.ts';
import { takeTurn } from '../evaluating/turns.ts';
import { visibleCounts } from '../group-lists.ts';
import { mustGrant, mustSee, seenDevices } from '../reach.ts';
import { addMembers, removeMembers, settle } from './memberships.ts';

/** Ids of devices in one audit entry. */
const MAX_AUDITED_IDS = 100;

type GroupBounds = Pick<DeviceGroup, 'orgId' | 'siteId'>;

/** Throws 400 {invalidDevices} if a device is unknown, out of the caller's reach, decommissioned or outside the group's site. */
export async function mustFit(ctx: Context, group: GroupBounds, deviceIds: readonly string[]): Promise<string[]> {
  const seen = await seenDevices(ctx, group.orgId, deviceIds);
  const fit = new Set(
    seen.filter(({ siteId }) => group.siteId === null || siteId === group.siteId).map(({ id }) => id),
  );
  const invalidDevices = deviceIds.filter((id) => !fit.has(id));
  if (invalidDevices.length === 0) return [...fit];
  throw invalid('deviceIds', 'Each device must be one that you can see, within the site of the group', {
    invalidDevices,
  });
}

/** The ids of the devices that lie outside the site of the group. */
export async function outsideOf(
  ctx: Context,
  { orgId, siteId }: GroupBounds,
  ids: readonly string[],
): Promise<string[]> {
  if (siteId === null) return [];
  // reach: ids that callers have checked or that are members; only those outside the site of the group
  const { rows } = await ctx.sql<{ id: string }>(
    'select id from devices where org_id = $1 and id = any($2::uuid[]) and site_id <> $3',
    [orgId, ids, siteId],
  );
  return rows.map((row) => row.id);
}

/** Removes members outside the group's site, of all members or of the given ones. The caller holds the lock of the group. */
export async function dropOutside(ctx: Context, group: DeviceGroup, deviceIds?: readonly string[]): Promise<string[]> {
  if (group.siteId === null) return [];
  // reach: mustReachAll has rejected callers who do not reach the whole group; otherwise a job of the organization
  const { rows } = await ctx.sql<{ id: string }>(
    `select m.device_id as id from device_group_members m join devices d on d.id = m.device_id
     where m.group_id = $1 and d.site_id <> $2 and ($3::uuid[] is null or m.device_id = any($3))`,
    [group.id, group.siteId, deviceIds ?? null],
  );
  const outside = rows.map((row) => row.id);
  const removed = await removeMembers(ctx, group, outside, { reason: 'device_moved' });
  await settle(ctx, group, { added: [], removed });
  return removed;
}

async function mustChangeMembers(ctx: Context, groupId: string) {
  await mustSee(ctx, groupId);
  await takeTurn(ctx, groupId);
  const group = await mustSee(ctx, groupId);
  if (group.type === 'dynamic') throw DynamicGroup();
  mustGrant(ctx, group);
  return group;
}

/** Adds all devices or none. Throws 404, DYNAMIC_GROUP, and 400 {invalidDevices}. */
export async function addDevices(ctx: Context, groupId: string, deviceIds: readonly string[]) {
  const group = await mustChangeMembers(ctx, groupId);
  const fit = await mustFit(ctx, group, deviceIds);
  const added = await addMembers(ctx, group, fit, { reason: 'manual' });
  await settle(ctx, group, { added, removed: [] });
  if (added.length === 0) ctx.unchanged();
  else {
    ctx.audit('device_group.device.add', {
      orgId: group.orgId,
      resourceType: 'device_group',
      resourceId: groupId,
      resourceName: group.name,
      details: { deviceIds: added.slice(0, MAX_AUDITED_IDS), count: added.length },
    });
  }
  const total = isLimited(ctx)
    ? ((await visibleCounts(ctx, [groupId])).get(groupId) ?? 0)
    : group.deviceCount + added.length;
  return { added: added.length, skipped: deviceIds.length - added.length, total };
}

/** Throws 404 for a group or device that the caller does not see, or a device that is not a member; DYNAMIC_GROUP. */
export async function removeDevice(ctx: Context, groupId: string, deviceId: string): Promise<{ success: true }> {
  const group = await mustChangeMembers(ctx, groupId);
  const [device] = await seenDevices(ctx, group.orgId, [deviceId]);
  const removed = device ? await removeMembers(ctx, group, [deviceId], { reason: 'manual' }) : [];
  if (removed.length === 0) throw errors.NotFound('The device is not in this group');
  await settle(ctx, group, { added: [], removed });
  ctx.audit('device_group.device.remove', {
    orgId: group.orgId,
    resourceType: 'device_group',
    resourceId: groupId,
    resourceName: group.name,
    details: { deviceId },
  });
  return { success: true };
}
