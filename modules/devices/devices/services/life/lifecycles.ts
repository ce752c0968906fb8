/** Decommissioning devices, with a durable uninstall command, and restoring them. */
import type { Context } from '#core';
import { RestoreTooLate } from '../../errors.ts';
import deviceDecommissioned from '../../events/decommissioned.ts';
import deviceRestored from '../../events/restored.ts';
import { cancelWaiting, queueUninstall } from '../departing-commands.ts';
import { mustExist } from '../devices.ts';
import { checkLimits } from './quotas.ts';
import { about, type LifecycleFields, moveOn, named, notIn } from './transitions.ts';

const DAY_MS = 86_400_000;
/** Days in which a decommissioned device can be restored; then it is purged. */
export const RESTORABLE_DAYS = 30;
export interface Leaving {
  uninstall: boolean;
  /** The mode in the audit entry. */
  mode: 'decommission' | 'deny' | 'merge' | 'uninstall';
  /** The states in which it is possible. */
  from?: readonly ('pending' | 'active' | 'quarantined')[];
  also?: Partial<LifecycleFields>;
}

/**
 * Decommissions a device in one transaction. The agent can authenticate for 30 days, until it has fetched the uninstall command,
 * because machines may be off for weeks. Throws 409 INVALID_STATE if the device is already decommissioned.
 */
export async function decommission(ctx: Context, id: string, leaving: Leaving) {
  const { uninstall, mode, from = ['pending', 'active', 'quarantined'], also = {} } = leaving;
  const device = await moveOn(ctx, id, from, {
    ...also,
    lifecycle: 'decommissioned',
    decommissionedAt: new Date(),
    decommissionedBy: ctx.actor.kind === 'user' ? ctx.actor.id : null,
    uninstallRequestedAt: uninstall ? new Date() : null,
  });
  await disconnect(ctx, id);
  const cancelled = await cancelWaiting(ctx, id);
  const deliverBy = new Date(Date.now() + RESTORABLE_DAYS * DAY_MS);
  const commandId = uninstall && device.agentId ? await queueUninstall(ctx, device, deliverBy) : undefined;
  const details = { mode, uninstall, cancelledCommands: cancelled };
  ctx.audit('device.delete', { ...named(device), details });
  ctx.emit(deviceDecommissioned, { hostname: device.hostname, uninstall }, about(device));
  ctx.notify('devices.changed', id);
  return { success: true, ...(commandId ? { uninstallCommandId: commandId } : {}) };
}

/** Marks the device offline, and ends updates in progress and events that are held back. */
export async function disconnect(ctx: Context, id: string): Promise<void> {
  // reach: moveOn() has checked and locked the device
  await ctx.sql(
    `update device_state set connectivity = 'offline', offline_held_at = null, updating_since = null,
       updating_to_version = null, main_agent_silent_since = null where device_id = $1`,
    [id],
  );
}

/**
 * Makes the device active again, shown offline until it reports; pending if its machine has never enrolled. Needs the platform
 * role, because the quota of the partner counts all organizations; the query limits the device to the caller's reach. Throws 409
 * INVALID_STATE, RESTORE_TOO_LATE; 403 DEVICE_LIMIT_REACHED.
 */
export async function restore(ctx: Context, id: string): Promise<void> {
  const old = await mustExist(ctx, id);
  if (old.lifecycle !== 'decommissioned') throw notIn(old.lifecycle, ['decommissioned']);
  const goneMs = Date.now() - (old.decommissionedAt?.getTime() ?? 0);
  if (goneMs > RESTORABLE_DAYS * DAY_MS) throw RestoreTooLate();
  // Locks the organization before the device, as enrollments do.
  await checkLimits(ctx, old.orgId);
  const device = await moveOn(ctx, id, ['decommissioned'], {
    lifecycle: old.agentId ? 'active' : 'pending',
    decommissionedAt: null,
    decommissionedBy: null,
    uninstallRequestedAt: null,
    uninstallConfirmedAt: null,
    quarantinedAt: null,
    quarantineReason: null,
    mergedIntoDeviceId: null,
  });
  await cancelWaiting(ctx, id, 'uninstall_agent');
  ctx.audit('device.restore', named(device));
  ctx.emit(deviceRestored, { hostname: device.hostname }, about(device));
  ctx.notify('devices.changed', id);
}
