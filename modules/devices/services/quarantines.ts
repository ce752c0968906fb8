/** Quarantine: a device that is known but not trusted, until somebody approves it or denies it. */
import type { Context } from '#core';
import { Device } from '../models/device.ts';
import { decommission, disconnect } from './lifecycles.ts';
import { cancelWaiting } from './queue.ts';
import { about, moveOn, named } from './transitions.ts';

/** Its heartbeat is acknowledged, everything else refused (domain/devices, section 2.1). 409 unless it is active. */
export async function quarantine(ctx: Context, id: string, reason: string): Promise<void> {
  const device = await moveOn(ctx, id, ['active'], {
    lifecycle: 'quarantined',
    quarantinedAt: new Date(),
    quarantineReason: reason.slice(0, 255),
  });
  await disconnect(ctx, id);
  const cancelled = await cancelWaiting(ctx, id);
  ctx.audit('device.quarantine', { ...named(device), details: { reason, cancelledCommands: cancelled.length } });
  ctx.emit('devices.quarantined', { hostname: device.hostname, reason }, about(device));
  ctx.notify('devices.changed', id);
}

/** Active again with its old tokens; offline until its next heartbeat. 409 unless it is quarantined. */
export async function approve(ctx: Context, id: string): Promise<void> {
  const device = await moveOn(ctx, id, ['quarantined'], {
    lifecycle: 'active',
    quarantinedAt: null,
    quarantineReason: null,
  });
  ctx.audit('device.approve', named(device));
  ctx.emit('devices.approved', { hostname: device.hostname }, about(device));
  ctx.notify('devices.changed', id);
}

/** Leaves for good, and is told to remove its agent. 409 unless it is quarantined. */
export const deny = (ctx: Context, id: string) =>
  decommission(ctx, id, { mode: 'deny', uninstall: true, from: ['quarantined'] });

/** For other modules, which find a stolen or copied token; false where the device is not active. Platform role. */
export async function suspectDevice(ctx: Context, id: string, reason: string): Promise<boolean> {
  const device = await Device.query(ctx.trx).findById(id).forNoKeyUpdate().select('lifecycle');
  if (device?.lifecycle !== 'active') return false;
  await quarantine(ctx, id, reason);
  return true;
}
