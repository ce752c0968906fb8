/** Network addresses of devices, and devices in the same subnet. */
import { type Context, reach } from '#core';
import type { Device } from '../../models/device.ts';

/** The first three octets of an IPv4 address; agents report no masks, so a subnet is assumed to be a /24. */
const subnetOf = (address: string) => `substring(${address} from '^(\\d{1,3}\\.\\d{1,3}\\.\\d{1,3})\\.\\d{1,3}$')`;

/** MAC addresses and IPv4 subnets (the first three octets) of a device, and whether it has IPv6 addresses. */
export async function readAddresses(
  ctx: Context,
  deviceId: string,
): Promise<{ macs: string[]; subnets: string[]; ipv6: boolean }> {
  // reach: callers have checked the device with mustExist
  const { rows } = await ctx.sql<{ macs: string[] | null; subnets: string[] | null; ipv6: boolean | null }>(
    `select array_remove(array_agg(distinct i.mac_address), null) as macs,
       array_remove(array_agg(distinct ${subnetOf('a.address')}), null) as subnets, bool_or(i.ipv6 <> '{}') as ipv6
     from device_network_interfaces i left join lateral unnest(i.ipv4) a (address) on true where i.device_id = $1`,
    [deviceId],
  );
  return { macs: rows[0]?.macs ?? [], subnets: rows[0]?.subnets ?? [], ipv6: rows[0]?.ipv6 ?? false };
}

/** The online device of the same site and one of the subnets that reported last, of those visible to the caller. */
export async function findNeighbour(
  ctx: Context,
  device: Pick<Device, 'id' | 'orgId' | 'siteId'>,
  subnets: readonly string[],
): Promise<{ id: string; subnet: string } | null> {
  const values: unknown[] = [device.orgId, device.siteId, device.id, subnets];
  const seen = reach(ctx, 'd', (value, type) => `$${values.push(value)}::${type}`);
  const { rows } = await ctx.sql<{ id: string; subnet: string }>(
    `select d.id, ${subnetOf('a.address')} as subnet
     from devices d join device_state s on s.device_id = d.id
       join device_network_interfaces i on i.device_id = d.id cross join lateral unnest(i.ipv4) a (address)
     where d.org_id = $1 and d.site_id = $2 and d.id <> $3 and d.lifecycle = 'active' and s.connectivity = 'online'
       and ${subnetOf('a.address')} = any($4) and ${seen}
     order by s.last_seen_at desc, d.id limit 1`,
    values,
  );
  return rows[0] ?? null;
}
