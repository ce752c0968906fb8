/** Wake-on-LAN: a sleeping machine is reachable only from its own subnet, so an online neighbour sends the magic packet. */
import { type Context, errors } from '#core';
import { Ipv6Only, NoMacs, NoRelay, NoSubnet } from '../errors.ts';
import type { Command } from '../models/command.ts';
import type { CommandType } from './command-types.ts';
import { queueCommand } from './queue.ts';
import { sentBy } from './senders.ts';

const HOUR_MS = 3_600_000;
const MAC = /^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i;
const MAX_MACS = 32;

/** The device to wake up. */
interface SleepingDevice {
  id: string;
  orgId: string;
  siteId: string;
  hostname: string;
  lifecycle: string;
}

/** Queues the command on the relaying device. Throws 409 unless the device is active, 412 if it cannot be reached. */
export async function wake(
  ctx: Context,
  device: SleepingDevice,
  { deliverHours, executionSeconds }: CommandType,
): Promise<Command> {
  if (device.lifecycle !== 'active') {
    throw errors.InvalidState({ details: [{ current: device.lifecycle, allowed: ['active'] }] });
  }
  const { macs, subnets } = await addressesOf(ctx, device.id);
  const relay = await ctx.use('devices').findNeighbour(device, subnets);
  if (!relay) throw NoRelay();
  const command = await queueCommand(ctx, relay.id, {
    ...sentBy(ctx),
    type: 'wake_on_lan',
    payload: { macs, broadcast: `${relay.subnet}.255` },
    priority: 10,
    deliverBy: new Date(Date.now() + deliverHours * HOUR_MS),
    executionTimeoutSeconds: executionSeconds,
    dedupKey: `wake:${device.id}`,
  });
  ctx.audit('device.command.queue', {
    orgId: device.orgId,
    resourceId: device.id,
    resourceName: device.hostname,
    details: { type: 'wake', commandId: command.id, relayDeviceId: relay.id },
  });
  return command;
}

async function addressesOf(ctx: Context, deviceId: string): Promise<{ macs: string[]; subnets: string[] }> {
  const addresses = await ctx.use('devices').readAddresses(deviceId);
  const macs = addresses.macs.filter((mac) => MAC.test(mac)).slice(0, MAX_MACS);
  if (macs.length === 0) throw NoMacs();
  const subnets = addresses.subnets.filter((subnet) => subnet !== '127.0.0');
  if (subnets.length === 0) throw addresses.ipv6 ? Ipv6Only() : NoSubnet();
  return { macs, subnets };
}
