/** One device: whether the caller sees it, and what can be changed. */
import { type Context, changesOf, errors, mustAccessSite } from '#core';
import deviceUpdated from '../events/updated.ts';
import { Device, type DeviceUpdate } from '../models/device.ts';
import { replacedTags } from '../models/tag.ts';
import { writeCustomValues } from './inventory/custom-values.ts';

/** Throws 404 for a device that the caller does not see. */
export async function mustExist(ctx: Context, id: string): Promise<Device> {
  const device = await Device.in(ctx).findById(id);
  if (!device) throw errors.NotFound('Device not found');
  return device;
}

export async function isOnline(ctx: Context, id: string): Promise<boolean> {
  // reach: callers have checked or locked the device
  const { rows } = await ctx.sql<{ connectivity: string }>(
    'select connectivity from device_state where device_id = $1',
    [id],
  );
  return rows[0]?.connectivity === 'online';
}

/** Of these devices the ones whose agent said that it refuses to restart, shut down or lock the machine. */
export async function refusingPower(ctx: Context, ids: readonly string[]): Promise<Set<string>> {
  // reach: callers have checked or locked the devices
  const { rows } = await ctx.sql<{ id: string }>(
    'select device_id as id from device_state where device_id = any($1::uuid[]) and not power_commands',
    [ids],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Throws NO_UPDATES, 404, 400 for an invalid tag or a site of another organization, 403 for a site out of reach. */
export async function updateDevice(ctx: Context, id: string, changes: DeviceUpdate): Promise<void> {
  if (Object.keys(changes).length === 0) throw errors.NoUpdates();
  // Locked, so that the audit entry compares with the values that this change replaces.
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
    // The agent never overwrites a role that an operator has set.
    ...(changes.deviceRole ? { deviceRoleSource: 'manual' as const } : {}),
    updatedAt: new Date(),
  };
  const changed = await Device.in(ctx).where({ id }).patch(patch);
  if (changed === 0) throw errors.NotFound('Device not found');
  const changedFields = Object.keys(changes);
  const { orgId, hostname } = device;
  // Custom values have an audit entry of their own.
  const details = { ...changesOf(device, { ...device, ...plain, ...(tags ? { tags } : {}) }, changedFields) };
  ctx.audit('device.update', { orgId, resourceId: id, resourceName: hostname, details });
  ctx.emit(deviceUpdated, { changedFields }, { orgId, siteId: changes.siteId ?? device.siteId, deviceId: id });
  if (changes.siteId) ctx.notify('devices.changed', id);
}
