/** Static groups that a new device joins: those that its provisioning names. */
import { type Context, errors } from '#core';
import { DeviceGroup } from '../../models/device-group.ts';
import { takeTurn } from '../evaluating/turns.ts';
import { groupsIn, mustGrant, RESTRICTING, type SeenGroup } from '../reach.ts';
import { addMembers, settle } from './memberships.ts';

interface DeviceLocation {
  orgId: string;
  siteId: string;
}

/** Throws 400 unless each is a visible static group for devices of this site, 403 if users are limited to it (mustGrant). */
export async function mustBeJoinable(
  ctx: Context,
  { orgId, siteId }: DeviceLocation,
  ids: readonly string[],
): Promise<void> {
  const groups = (await groupsIn(ctx)
    .whereIn('device_groups.id', [...ids])
    .where('device_groups.orgId', orgId)
    .select('device_groups.*', DeviceGroup.raw(`${RESTRICTING} as is_access_restricting`))) as SeenGroup[];
  const fit = groups.filter((group) => group.type === 'static' && (group.siteId === null || group.siteId === siteId));
  const unfit = ids.filter((id) => !fit.some((group) => group.id === id));
  if (unfit.length > 0) {
    const message = 'Each group must be a static group of this organization and site';
    throw errors.ValidationFailed({ message, details: [{ in: 'payload', path: 'groupIds', message, ids: unfit }] });
  }
  for (const group of fit) mustGrant(ctx, group);
}

/** Adds a new device to groups that `mustBeJoinable` has accepted in the same transaction. */
export async function joinGroups(ctx: Context, deviceId: string, ids: readonly string[]): Promise<void> {
  for (const id of [...ids].sort()) {
    await takeTurn(ctx, id);
    const group = await DeviceGroup.in(ctx).findById(id);
    if (!group) continue;
    const added = await addMembers(ctx, group, [deviceId], { reason: 'enrollment' });
    await settle(ctx, group, { added, removed: [] });
  }
}
