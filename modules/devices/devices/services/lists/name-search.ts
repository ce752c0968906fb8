/** Devices by a part of host name or display name, for the global search. */
import { type Context, reach } from '#core';

interface DeviceHit {
  id: string;
  title: string;
  description: string;
  place: 0 | 1 | 2;
}

/**
 * At most `limit` devices that the caller sees, the best first: equal names, then names that begin with the text, then names that
 * contain it. Without decommissioned devices, as in the list.
 */
export async function searchDevices(ctx: Context, text: string, limit: number): Promise<DeviceHit[]> {
  const { orgIds, siteIds, groupIds } = ctx.scope;
  const values: unknown[] = [siteIds, groupIds, text, limit];
  const seen = reach(ctx, 'd', (value, type) => `$${values.push(value)}::${type}`);
  // A caller who reaches all organizations has no `orgIds`, and row-level security does not limit it.
  const named = orgIds ? 'named_devices(' : 'find_named_devices(null, ';
  // The array makes the planner look the rows up by id, whatever it expects of a join with a few dozen rows.
  const { rows } = await ctx.sql<DeviceHit>(
    `with f as materialized (select * from ${named}$1::uuid[], $2::uuid[], $3::text, $4::int))
     select d.id, coalesce(d.display_name, d.hostname) as title,
       concat_ws(', ', case when d.display_name is not null then d.hostname end, o.name) as description, f.place
     from f join devices d on d.id = f.device_id join organizations o on o.id = d.org_id
     where d.id = any(array(select device_id from f)) and ${seen}
     order by f.place, lower(coalesce(d.display_name, d.hostname)), d.id`,
    values,
  );
  return rows;
}
