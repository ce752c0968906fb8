/** Devices by a part of host name or display name, for the global search. */
import type { Context } from '#core';
import { Device } from '../models/device.ts';

interface Found {
  id: string;
  title: string;
  description: string;
  place: 0 | 1 | 2;
}

/**
 * At most `limit` devices that the caller sees, the best first: equal names, then beginnings, then parts. Removed devices
 * are left out, as in the list.
 */
export async function searchDevices(ctx: Context, text: string, limit: number): Promise<Found[]> {
  // Nobody can belong to a group yet: Device.in(ctx) would show such a caller nothing of what was found.
  if (ctx.scope.groupIds) return [];
  const sites = ctx.scope.siteIds as string[] | null;
  // Work that reaches every organization has none announced.
  const found = ctx.scope.orgIds
    ? Device.raw('named_devices(?::uuid[], ?, ?::int) as f', [sites, text, limit])
    : Device.raw('find_named_devices(null, ?::uuid[], ?, ?::int) as f', [sites, text, limit]);
  const rows = await Device.in(ctx)
    .join(found as never, 'f.device_id', 'devices.id')
    .join('organizations as o', 'o.id', 'devices.org_id')
    .select(
      'devices.id',
      Device.raw('coalesce(devices.display_name, devices.hostname) as title'),
      Device.raw(
        `concat_ws(', ', case when devices.display_name is not null then devices.hostname end, o.name) as description`,
      ),
      'f.place',
    )
    .orderByRaw('f.place, lower(coalesce(devices.display_name, devices.hostname)), devices.id');
  return rows as unknown as Found[];
}
