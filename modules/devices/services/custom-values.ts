/** Custom values of devices: merged in one statement, so that two writers of different keys both keep theirs. */
import { type Context, errors } from '#core';
import type { Device } from '../models/device.ts';

/** Throws 400 with the path of each fault; also when no module defines custom fields. */
export async function writeCustomValues(ctx: Context, device: Device, given: Record<string, unknown>): Promise<void> {
  const [values] = ctx.fillings('devices.values');
  if (!values) throw errors.ValidationFailed('There are no custom fields');
  const { rows } = await ctx.sql<{ timeZone: string }>('select timezone as "timeZone" from sites where id = $1', [
    device.siteId,
  ]);
  const timeZone = rows[0]?.timeZone ?? 'UTC';
  const checked = await values.check(ctx, { orgId: device.orgId, osType: device.osType, timeZone }, given);
  const kept = Object.entries(checked).filter(([, value]) => value !== null);
  const removed = Object.keys(checked).filter((key) => checked[key] === null);
  await ctx.sql('update devices set custom_fields = (custom_fields || $2::jsonb) - $3::text[] where id = $1', [
    device.id,
    JSON.stringify(Object.fromEntries(kept)),
    removed,
  ]);
  const before = Object.fromEntries(Object.keys(checked).map((key) => [key, device.customFields[key] ?? null]));
  ctx.audit('device.custom_fields.update', {
    orgId: device.orgId,
    resourceId: device.id,
    resourceName: device.hostname,
    details: { before, after: checked },
  });
}
