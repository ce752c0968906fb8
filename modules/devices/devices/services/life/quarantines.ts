/** Quarantine: a device that is known but not trusted, until a user approves or rejects it. */
import type { Context } from '#core';
import deviceApproved from '../../events/approved.ts';
import deviceQuarantined from '../../events/quarantined.ts';
import { Device } from '../../models/device.ts';
import { cancelWaiting } from '../departing-commands.ts';
import { decommission, disconnect } from './lifecycles.ts';
import { about, moveOn, named } from './transitions.ts';

const entering = (reason: string) => ({
  lifecycle: 'quarantined' as const,
  quarantinedAt: new Date(),
  quarantineReason: reason.slice(0, 255),
});

/** Its heartbeats are acknowledged, all other requests rejected. Throws 409 unless the device is active. */
export async function quarantine(ctx: Context, id: string, reason: string): Promise<void> {
  await shutOut(ctx, await moveOn(ctx, id, ['active'], entering(reason)), reason);
}

async function shutOut(ctx: Context, device: Device, reason: string): Promise<void> {
  await disconnect(ctx, device.id);
  const cancelled = await cancelWaiting(ctx, device.id);
  ctx.audit('device.quarantine', { ...named(device), details: { reason, cancelledCommands: cancelled } });
  ctx.emit(deviceQuarantined, { hostname: device.hostname, reason }, about(device));
  ctx.notify('devices.changed', device.id);
}

/** Makes the device active again with its old tokens; offline until its next heartbeat. Throws 409 unless it is quarantined. */
export async function approve(ctx: Context, id: string): Promise<void> {
  const device = await moveOn(ctx, id, ['quarantined'], {
    lifecycle: 'active',
    quarantinedAt: null,
    quarantineReason: null,
  });
  ctx.audit('device.approve', named(device));
  ctx.emit(deviceApproved, { hostname: device.hostname }, about(device));
  ctx.notify('devices.changed', id);
}

/** Decommissions the device, and queues the command that removes its agent. Throws 409 unless it is quarantined. */
export const deny = (ctx: Context, id: string) =>
  decommission(ctx, id, { mode: 'deny', uninstall: true, from: ['quarantined'] });

/**
 * Quarantines a device whose token another module has found to be stolen or copied; false when the device is not active. Only its
 * heartbeats are accepted until it is approved, and waiting commands are cancelled. Platform role.
 */
export async function quarantineSuspect(ctx: Context, id: string, reason: string): Promise<boolean> {
  // Not limited by a reach: the caller may be an agent that is not authenticated yet.
  // reach: other modules find a stolen token and name its device; platform role
  const device = await Device.query(ctx.trx)
    .where({ id, lifecycle: 'active' })
    .patch({ ...entering(reason), updatedAt: new Date() } as Partial<Device>)
    .returning('*')
    .first();
  if (!device) return false;
  await shutOut(ctx, device, reason);
  return true;
}
