/** Leaving and coming back: decommission with its durable uninstall order, and restore. */
import type { Context } from '#core';
import { RestoreTooLate } from '../../errors.ts';
import deviceDecommissioned from '../../events/decommissioned.ts';
import deviceRestored from '../../events/restored.ts';
import { cancelWaiting, queueUninstall } from '../departing-commands.ts';
import { mustExist } from '../devices.ts';
import { takePlace } from './quotas.ts';
import { about, type LifecycleFields, moveOn, named, notIn } from './transitions.ts';

const DAY_MS = 86_400_000;
/** Days in which a decommissioned device can be restored; then it is purged. */
export const RESTORABLE_DAYS = 30;
export interface Leaving {
  uninstall: boolean;
  /** What the audit trail calls it. */
  mode: 'decommission' | 'deny' | 'merge' | 'uninstall';
  /** The states it may happen in. */
  from?: readonly ('pending' | 'active' | 'quarantined')[];
  also?: Partial<LifecycleFields>;
}

/**
 * All effects in one transaction. The agent stays known until it has fetched the order to remove itself, for 30 days:
 * machines may be off for weeks. 409 INVALID_STATE when it is decommissioned already.
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

/** No longer counted as present, and nothing that was under way is waited for. */
export async function disconnect(ctx: Context, id: string): Promise<void> {
  // reach: moveOn() has checked and locked the device
  await ctx.sql(
    `update device_state set connectivity = 'offline', offline_held_at = null, updating_since = null,
       updating_to_version = null, main_agent_silent_since = null where device_id = $1`,
    [id],
  );
}

/**
 * Active again, shown offline until it reports; pending again when no machine has ever filled it. Needs the platform role,
 * as the quota of the partner counts everywhere; the query door limits it to what the caller reaches. 409 INVALID_STATE,
 * RESTORE_TOO_LATE; 403 DEVICE_LIMIT_REACHED.
 */
export async function restore(ctx: Context, id: string): Promise<void> {
  const old = await mustExist(ctx, id);
  if (old.lifecycle !== 'decommissioned') throw notIn(old.lifecycle, ['decommissioned']);
  const goneMs = Date.now() - (old.decommissionedAt?.getTime() ?? 0);
  if (goneMs > RESTORABLE_DAYS * DAY_MS) throw RestoreTooLate();
  // The organization before the device, as enrollments lock them.
  await takePlace(ctx, old.orgId);
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
