/** One device: whether the caller sees it, what may be changed, and the wish for automatic updates. */
import { type Context, changesOf, errors, mustAccessSite } from '#core';
import { Device, type DeviceUpdate } from '../models/device.ts';
import { replacedTags } from '../models/tag.ts';
import { insertCommand } from './commands/queue.ts';
import { writeCustomValues } from './inventory/custom-values.ts';

/** 404 for what the caller does not see. */
export async function mustExist(ctx: Context, id: string): Promise<Device> {
  const device = await Device.in(ctx).findById(id);
  if (!device) throw errors.NotFound('Device not found');
  return device;
}

/** Throws NO_UPDATES, 404, 400 for a bad tag or a site of another organization, 403 for one out of the caller's limits. */
export async function updateDevice(ctx: Context, id: string, changes: DeviceUpdate): Promise<void> {
  if (Object.keys(changes).length === 0) throw errors.NoUpdates();
  // Locked, so that what was there before is what this change found.
  const device = await Device.in(ctx).findById(id).forNoKeyUpdate();
  if (!device) throw errors.NotFound('Device not found');
  const tags = changes.tags && replacedTags(device.tags, changes.tags);
  if (changes.siteId) {
    mustAccessSite(ctx, changes.siteId);
    await ctx.use('tenancy').mustExistSite(changes.siteId, device.orgId);
  }
  const { customFields, ...plain } = changes;
  if (customFields) await writeCustomValues(ctx, device, customFields);
  const patch = {
    ...plain,
    ...(tags ? { tags } : {}),
    // What an operator has said is never overwritten by the agent.
    ...(changes.deviceRole ? { deviceRoleSource: 'manual' as const } : {}),
    updatedAt: new Date(),
  };
  const changed = await Device.in(ctx).where({ id }).patch(patch);
  if (changed === 0) throw errors.NotFound('Device not found');
  const changedFields = Object.keys(changes);
  const { orgId, hostname } = device;
  // Custom values have an entry of their own.
  const details = { ...changesOf(device, { ...device, ...plain, ...(tags ? { tags } : {}) }, changedFields) };
  ctx.audit('device.update', { orgId, resourceId: id, resourceName: hostname, details });
  ctx.emit('devices.updated', { changedFields }, { orgId, siteId: changes.siteId ?? device.siteId, deviceId: id });
  if (changes.siteId) ctx.notify('devices.changed', id);
}

/**
 * Stores the wish and orders the agent to follow it. The newest wish wins: earlier orders end here, and what counts in
 * the end is the setting that the heartbeat reports.
 */
export async function setAutoUpdate(ctx: Context, id: string, enabled: boolean) {
  const device = await Device.in(ctx).findById(id).forNoKeyUpdate();
  if (!device) throw errors.NotFound('Device not found');
  if (device.lifecycle !== 'active') {
    throw errors.InvalidState({ details: [{ current: device.lifecycle, allowed: ['active'] }] });
  }
  const same = device.autoUpdateEnabled === enabled && device.autoUpdateConfirmedAt !== null;
  if (same) {
    ctx.unchanged();
    return { deviceId: id, enabled, confirmed: true };
  }
  await wishAutoUpdate(ctx, id, enabled);
  await ctx.sql(
    `update device_commands set status = 'cancelled', finished_at = now(), payload = '{}'
     where device_id = $1 and dedup_key = 'set_auto_update' and status in ('pending', 'sent', 'running')`,
    [id],
  );
  const command = await insertCommand(ctx, device, {
    type: 'set_auto_update',
    payload: { enabled },
    dedupKey: 'set_auto_update',
    deliverBy: new Date(Date.now() + 86_400_000),
    source: 'system',
  });
  const { orgId, hostname } = device;
  const details = { enabled, commandId: command.id };
  ctx.audit('device.auto_update.set', { orgId, resourceId: id, resourceName: hostname, details });
  return { deviceId: id, enabled, confirmed: false };
}

/** What operators want; unconfirmed until a heartbeat or a result reports the same. */
export async function wishAutoUpdate(ctx: Context, id: string, enabled: boolean): Promise<void> {
  await Device.in(ctx)
    .where({ id })
    .patch({ autoUpdateEnabled: enabled, autoUpdateConfirmedAt: null, updatedAt: new Date() });
}
