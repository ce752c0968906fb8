/** Exceptions to a filter: devices that are members, or are not, regardless of the filter. */
import { type Context, errors } from '#core';
import { GroupNotFound, OutsideSite, StaticGroup } from '../../errors.ts';
import { takeTurn } from '../evaluating/turns.ts';
import { mustGrant, mustSee, type SeenGroup, seenDevices } from '../reach.ts';
import { addMembers, logChange, removeMembers, settle } from './memberships.ts';

export type PinMode = 'include' | 'exclude';
interface PinState {
  isPinned: boolean;
  isExcluded: boolean;
}
const SHOWN = `group_id as "groupId", device_id as "deviceId", org_id as "orgId", is_pinned as "isPinned",
  is_excluded as "isExcluded", added_at as "addedAt", added_by as "addedBy", added_by_user_id as "addedByUserId",
  pinned_by as "pinnedBy", pinned_at as "pinnedAt", pin_reason as "pinReason"`;

/**
 * Locks the group, and returns it with the device. Throws 404 for what the caller does not see, STATIC_GROUP, 403 (mustGrant).
 */
async function begin(ctx: Context, groupId: string, deviceId: string) {
  await mustSee(ctx, groupId);
  await takeTurn(ctx, groupId);
  const group = await mustSee(ctx, groupId);
  if (group.type === 'static') throw StaticGroup();
  mustGrant(ctx, group);
  const [device] = await seenDevices(ctx, group.orgId, [deviceId]);
  if (!device) throw errors.NotFound('Device not found');
  return { group, device };
}

// reach: begin() has checked the group and the device
const membershipOf = async (ctx: Context, groupId: string, deviceId: string) =>
  (
    await ctx.sql<PinState>(`select ${SHOWN} from device_group_members where group_id = $1 and device_id = $2`, [
      groupId,
      deviceId,
    ])
  ).rows[0];

function audit(ctx: Context, action: string, group: SeenGroup, details: object): void {
  const { orgId, id: resourceId, name: resourceName } = group;
  const entry = { orgId, resourceType: 'device_group', resourceId, resourceName, details: { ...details } };
  ctx.audit(action, entry);
}

/** @returns the membership. A repeat changes nothing. Throws OUTSIDE_SITE, and 409 for a device that is not active. */
export async function pin(
  ctx: Context,
  groupId: string,
  deviceId: string,
  { mode, reason = null }: { mode: PinMode; reason?: string | null },
) {
  const { group, device } = await begin(ctx, groupId, deviceId);
  if (group.siteId && device.siteId !== group.siteId) throw OutsideSite();
  if (device.lifecycle !== 'active') {
    throw errors.InvalidState({ details: [{ current: device.lifecycle, allowed: ['active'] }] });
  }
  const before = await membershipOf(ctx, groupId, deviceId);
  if (before && (mode === 'include' ? before.isPinned : before.isExcluded)) {
    ctx.unchanged();
    return before;
  }
  // reach: begin() has checked the group and the device
  await ctx.sql(
    `insert into device_group_members (group_id, device_id, org_id, added_by, added_by_user_id, is_pinned, is_excluded,
       pinned_by, pinned_at, pin_reason)
     values ($1, $2, $3, 'manual', $4, $5, not $5, $6, now(), $7)
     on conflict (group_id, device_id) do update set is_pinned = excluded.is_pinned, is_excluded = excluded.is_excluded,
       pinned_by = excluded.pinned_by, pinned_at = excluded.pinned_at, pin_reason = excluded.pin_reason,
       unmatch_since = null`,
    [
      ...[groupId, deviceId, group.orgId, ctx.actor.kind === 'user' ? ctx.actor.id : null, mode === 'include'],
      ...[ctx.actor.id, reason],
    ],
  );
  const wasMember = before !== undefined && !before.isExcluded;
  if (mode === 'include' && !wasMember) {
    await logChange(ctx, group, device, 'added', 'pinned');
    await settle(ctx, group, { added: [deviceId], removed: [] });
  }
  if (mode === 'exclude' && wasMember) {
    await logChange(ctx, group, device, 'removed', 'excluded');
    await settle(ctx, group, { added: [], removed: [deviceId] });
  }
  audit(ctx, 'device_group.device.pin', group, { deviceId, mode, reason });
  return membershipOf(ctx, groupId, deviceId);
}

/**
 * Lets the filter decide again, at once. Throws 404 for a device without a pin, and FILTER_TOO_EXPENSIVE or VALIDATION_ERROR when
 * the filter cannot be evaluated.
 */
export async function unpin(ctx: Context, groupId: string, deviceId: string): Promise<{ stillMember: boolean }> {
  const { group, device } = await begin(ctx, groupId, deviceId);
  const before = await membershipOf(ctx, groupId, deviceId);
  if (!before?.isPinned && !before?.isExcluded) throw errors.NotFound('The device is not pinned in this group');
  if (!group.filter) throw GroupNotFound();
  const fits = group.siteId === null || device.siteId === group.siteId;
  const found = await ctx.use('filters').matching(group.filter, { orgId: group.orgId, deviceIds: [deviceId] });
  const stillMember = fits && found.length > 0;
  if (before.isExcluded) {
    // reach: begin() has checked the group and the device
    await ctx.sql('delete from device_group_members where group_id = $1 and device_id = $2', [groupId, deviceId]);
    const added = stillMember ? await addMembers(ctx, group, [deviceId], { reason: 'filter_match' }) : [];
    await settle(ctx, group, { added, removed: [] });
  } else if (stillMember) {
    // reach: begin() has checked the group and the device
    await ctx.sql(
      `update device_group_members set is_pinned = false, pinned_by = null, pinned_at = null, pin_reason = null,
         added_by = 'dynamic_rule' where group_id = $1 and device_id = $2`,
      [groupId, deviceId],
    );
  } else {
    const removed = await removeMembers(ctx, group, [deviceId], { reason: 'unpinned' });
    await settle(ctx, group, { added: [], removed });
  }
  audit(ctx, 'device_group.device.unpin', group, { deviceId, mode: before.isExcluded ? 'exclude' : 'include' });
  return { stillMember };
}
