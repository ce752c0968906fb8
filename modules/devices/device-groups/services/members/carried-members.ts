/** When a device is merged into another one, the other one joins its static groups. */
import type { Context } from '#core';
import type { DeviceGroup } from '../../models/device-group.ts';
import { takeTurn } from '../evaluating/turns.ts';
import { addMembers, settle } from './memberships.ts';

/**
 * Runs before the old device leaves all its groups. Groups that are bound to other sites than that of the new device are left
 * out.
 */
export async function carryMemberships(ctx: Context, fromDeviceId: string, intoDeviceId: string): Promise<void> {
  // reach: both devices were checked by the merge that calls this
  const { rows } = await ctx.sql<Pick<DeviceGroup, 'id' | 'orgId' | 'name'>>(
    `select g.id, g.org_id as "orgId", g.name from device_group_members m join device_groups g on g.id = m.group_id
     join devices d on d.id = $2 and d.org_id = g.org_id and (g.site_id is null or g.site_id = d.site_id)
     where m.device_id = $1 and g.type = 'static' and not m.is_excluded order by g.id`,
    [fromDeviceId, intoDeviceId],
  );
  for (const group of rows) {
    await takeTurn(ctx, group.id);
    const added = await addMembers(ctx, group, [intoDeviceId], { reason: 'manual' });
    await settle(ctx, group, { added, removed: [] });
  }
}
