/** Leaving and coming back: decommission with its durable uninstall order, restore, and the final purge. */
import { type Context, defineError, errors } from '#core';
import { Device } from '../models/device.ts';
import { mustExist } from './devices.ts';
import { cancelWaiting, insertCommand } from './queue.ts';
import { takePlace } from './quotas.ts';

const DAY_MS = 86_400_000;
/** Days in which a decommissioned device can be restored; then it is purged. */
export const RESTORABLE_DAYS = 30;
export const RestoreTooLate = defineError('RESTORE_TOO_LATE', 409, 'The device was decommissioned too long ago');

/**
 * All effects in one transaction. The agent stays known until it has fetched the order to remove itself, for 30 days:
 * machines may be off for weeks. 409 INVALID_STATE when it is decommissioned already.
 */
export async function decommission(ctx: Context, id: string, uninstall: boolean) {
  const device = await Device.in(ctx)
    .where({ id })
    .whereNot('lifecycle', 'decommissioned')
    .patch({
      lifecycle: 'decommissioned',
      decommissionedAt: new Date(),
      decommissionedBy: ctx.actor.kind === 'user' ? ctx.actor.id : null,
      uninstallRequestedAt: uninstall ? new Date() : null,
      updatedAt: new Date(),
    } as Partial<Device>)
    .returning('*')
    .first();
  if (!device) {
    const { lifecycle } = await mustExist(ctx, id);
    throw errors.InvalidState({ details: [{ current: lifecycle, allowed: ['pending', 'active', 'quarantined'] }] });
  }
  const { orgId, siteId, hostname } = device;
  await ctx.sql(
    `update device_state set connectivity = 'offline', offline_held_at = null, updating_since = null,
       updating_to_version = null, main_agent_silent_since = null where device_id = $1`,
    [id],
  );
  const cancelled = await cancelWaiting(ctx, id);
  const order = uninstall && device.agentId ? await orderUninstall(ctx, device) : null;
  ctx.audit('device.delete', {
    orgId,
    resourceId: id,
    resourceName: hostname,
    details: { mode: 'decommission', uninstall, cancelledCommands: cancelled.length },
  });
  ctx.emit('devices.decommissioned', { hostname, uninstall }, { orgId, siteId, deviceId: id });
  ctx.notify('devices.changed', id);
  return { success: true, ...(order ? { uninstallCommandId: order.id } : {}) };
}

const orderUninstall = (ctx: Context, device: Device) =>
  insertCommand(ctx, device, {
    type: 'uninstall_agent',
    dedupKey: 'uninstall_agent',
    deliverBy: new Date(Date.now() + RESTORABLE_DAYS * DAY_MS),
    executionTimeoutSeconds: 1800,
    source: 'system',
  });

/**
 * Active again, shown offline until it reports. Needs the platform role, as the quota of the partner counts everywhere;
 * the query door limits it to what the caller reaches. 409 INVALID_STATE, RESTORE_TOO_LATE; 403 DEVICE_LIMIT_REACHED.
 */
export async function restore(ctx: Context, id: string): Promise<void> {
  const old = await Device.in(ctx).findById(id).forNoKeyUpdate();
  if (!old) throw errors.NotFound('Device not found');
  if (old.lifecycle !== 'decommissioned') {
    throw errors.InvalidState({ details: [{ current: old.lifecycle, allowed: ['decommissioned'] }] });
  }
  const goneMs = Date.now() - (old.decommissionedAt?.getTime() ?? 0);
  if (goneMs > RESTORABLE_DAYS * DAY_MS) throw RestoreTooLate();
  await takePlace(ctx, old.orgId);
  const changed = await Device.in(ctx)
    .where({ id, lifecycle: 'decommissioned' })
    .patch({
      lifecycle: 'active',
      decommissionedAt: null,
      decommissionedBy: null,
      uninstallRequestedAt: null,
      uninstallConfirmedAt: null,
      updatedAt: new Date(),
    } as Partial<Device>);
  if (changed === 0) throw errors.InvalidState();
  await cancelWaiting(ctx, id, `type = 'uninstall_agent'`);
  const { orgId, siteId, hostname } = old;
  ctx.audit('device.restore', { orgId, resourceId: id, resourceName: hostname });
  ctx.emit('devices.restored', { hostname }, { orgId, siteId, deviceId: id });
  ctx.notify('devices.changed', id);
}

/** Removes what can no longer be restored, some at a time; returns how many went. Platform role. */
export async function purgeDevices(ctx: Context, most: number): Promise<number> {
  const { rows } = await ctx.sql<{ id: string; orgId: string; hostname: string }>(
    `delete from devices where id in (
       select id from devices where lifecycle = 'decommissioned'
         and decommissioned_at < now() - make_interval(days => $1) order by id limit $2 for update skip locked)
     returning id, org_id as "orgId", hostname`,
    [RESTORABLE_DAYS, most],
  );
  await ctx.sql('delete from device_metrics where device_id = any($1::uuid[])', [rows.map(({ id }) => id)]);
  for (const { id, orgId, hostname } of rows) {
    ctx.audit('device.delete', { orgId, resourceId: id, resourceName: hostname, details: { mode: 'purge' } });
    ctx.notify('devices.changed', id);
  }
  return rows.length;
}
