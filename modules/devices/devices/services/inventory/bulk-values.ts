/** Custom values of many devices: each device takes all of them or none. */
import { AppError, type Context, errors } from '#core';
import deviceUpdated from '../../events/updated.ts';
import type { BulkValues } from '../../models/bulk-values.ts';
import { Device } from '../../models/device.ts';
import { auditValues, checkedValues, mergeValues } from './custom-values.ts';

interface Failed {
  deviceId: string;
  hostname: string | null;
  code: string;
  message: string;
  details?: unknown[];
}

/** Checks once for each organization, site and operating system. Devices out of reach are NOT_FOUND. */
export async function writeBulkValues(ctx: Context, { deviceIds, values }: BulkValues) {
  const devices = await Device.in(ctx).findByIds(deviceIds).orderBy('devices.id').forNoKeyUpdate();
  const seen = new Set(devices.map(({ id }) => id));
  const failed: Failed[] = deviceIds
    .filter((id) => !seen.has(id))
    .map((deviceId) => ({ deviceId, hostname: null, code: 'NOT_FOUND', message: 'Device not found' }));
  let updated = 0;
  const alike = Map.groupBy(devices, ({ orgId, siteId, osType }) => `${orgId} ${siteId} ${osType}`);
  // Always in the same order, because the organization is locked against the deletion of its fields.
  for (const [, group] of [...alike].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [first] = group;
    if (!first) continue;
    const checked = await checkedValues(ctx, first, values).catch((fault: unknown) => {
      if (!(fault instanceof AppError) || fault.code !== errors.ValidationFailed.code) throw fault;
      return fault;
    });
    if (checked instanceof AppError) {
      const { code, message, details } = checked;
      failed.push(...group.map(({ id: deviceId, hostname }) => ({ deviceId, hostname, code, message, details })));
      continue;
    }
    await mergeValues(
      ctx,
      group.map(({ id }) => id),
      checked,
    );
    updated += group.length;
    for (const device of group) {
      auditValues(ctx, device, checked, { source: 'bulk' });
      const { id: deviceId, orgId, siteId } = device;
      ctx.emit(deviceUpdated, { changedFields: ['customFields'] }, { orgId, siteId, deviceId });
    }
  }
  if (updated === 0) ctx.unchanged();
  return { updated, failed };
}
