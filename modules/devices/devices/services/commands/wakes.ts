/** Wake-on-LAN: a sleeping machine is reachable only from its own subnet, so an online neighbour sends the magic packet. */
import { type Context, defineError, visibleDevices } from '#core';
import type { Command } from '../../models/command.ts';
import type { Device } from '../../models/device.ts';
import { named, notIn } from '../life/transitions.ts';
import type { CommandType } from './command-types.ts';
import { orderedBy } from './orderers.ts';
import { queueCommand } from './queue.ts';

export const NoMacs = defineError('NO_MACS', 412, 'No network address of the device is known');
export const NoSubnet = defineError('NO_SUBNET', 412, 'It is not known in which subnet the device is');
export const Ipv6Only = defineError('IPV6_ONLY', 412, 'The device has no IPv4 address to be called at');
export const NoRelay = defineError('NO_RELAY', 412, 'No other device of the subnet is online to call this one');

const HOUR_MS = 3_600_000;
const MAC = /^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i;
const MOST_MACS = 32;
/** The first three parts of an IPv4 address; agents report no masks, so a subnet is taken to be a /24. */
const SUBNET = (address: string) => `substring(${address} from '^(\\d{1,3}\\.\\d{1,3}\\.\\d{1,3})\\.\\d{1,3}$')`;

/** Queues the call on the relay. Throws 409 unless the device is active, 412 where it cannot be called. */
export async function wake(
  ctx: Context,
  device: Device,
  { deliverHours, executionSeconds }: CommandType,
): Promise<Command> {
  if (device.lifecycle !== 'active') throw notIn(device.lifecycle, ['active']);
  const { macs, subnets } = await addressesOf(ctx, device.id);
  const relay = await relayFor(ctx, device, subnets);
  if (!relay) throw NoRelay();
  const command = await queueCommand(ctx, relay.id, {
    ...orderedBy(ctx),
    type: 'wake_on_lan',
    payload: { macs, broadcast: `${relay.subnet}.255` },
    priority: 10,
    deliverBy: new Date(Date.now() + deliverHours * HOUR_MS),
    executionTimeoutSeconds: executionSeconds,
    dedupKey: `wake:${device.id}`,
  });
  const details = { type: 'wake', commandId: command.id, relayDeviceId: relay.id };
  ctx.audit('device.command.queue', { ...named(device), details });
  return command;
}

async function addressesOf(ctx: Context, deviceId: string): Promise<{ macs: string[]; subnets: string[] }> {
  const { rows } = await ctx.sql<{ macs: string[]; subnets: string[]; v6: boolean }>(
    `select array_remove(array_agg(distinct i.mac_address), null) as macs,
       array_remove(array_agg(distinct ${SUBNET('a.address')}), null) as subnets, bool_or(i.ipv6 <> '{}') as v6
     from device_network_interfaces i left join lateral unnest(i.ipv4) a (address) on true where i.device_id = $1`,
    [deviceId],
  );
  const found = rows[0];
  const macs = (found?.macs ?? []).filter((mac) => MAC.test(mac)).slice(0, MOST_MACS);
  if (macs.length === 0) throw NoMacs();
  const subnets = (found?.subnets ?? []).filter((subnet) => subnet !== '127.0.0');
  if (subnets.length === 0) throw found?.v6 ? Ipv6Only() : NoSubnet();
  return { macs, subnets };
}

/** The neighbour that was heard last, of those the caller sees. */
async function relayFor(ctx: Context, device: Device, subnets: string[]) {
  const values: unknown[] = [device.orgId, device.siteId, device.id, subnets];
  const seen = visibleDevices(ctx.scope, (value, type) => `$${values.push(value)}::${type}`);
  const { rows } = await ctx.sql<{ id: string; subnet: string }>(
    `select d.id, ${SUBNET('a.address')} as subnet
     from devices d join device_state s on s.device_id = d.id
       join device_network_interfaces i on i.device_id = d.id cross join lateral unnest(i.ipv4) a (address)
     where d.org_id = $1 and d.site_id = $2 and d.id <> $3 and d.lifecycle = 'active' and s.connectivity = 'online'
       and ${SUBNET('a.address')} = any($4) and ${seen}
     order by s.last_seen_at desc, d.id limit 1`,
    values,
  );
  return rows[0] ?? null;
}
