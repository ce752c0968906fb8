/** Custom values of devices: merged in one statement, so that concurrent writers of different keys keep both values. */
import { AppError, type Context, errors } from '#core';
import deviceUpdated from '../../events/updated.ts';
import { Device } from '../../models/device.ts';

/** A custom value that a script cannot write, and why. */
export interface ValueFault {
  key: string;
  code: string;
  message: string;
}

type Values = Record<string, unknown>;
export type ValueOwner = Pick<Device, 'orgId' | 'osType' | 'siteId'>;
type Writer = 'user' | 'script';

/** The given values in their stored form. Throws 400 with the path of each fault, also when no custom field exists. */
export async function checkedValues(
  ctx: Context,
  owner: ValueOwner,
  given: Values,
  by: Writer = 'user',
): Promise<Values> {
  const [values] = ctx.contributions('devices.values', owner.orgId);
  if (!values) throw errors.ValidationFailed('There are no custom fields');
  // reach: the site of a device that was locked or checked before; only its time zone
  const { rows } = await ctx.sql<{ timeZone: string }>('select timezone as "timeZone" from sites where id = $1', [
    owner.siteId,
  ]);
  const timeZone = rows[0]?.timeZone ?? 'UTC';
  return values.check(ctx, { orgId: owner.orgId, osType: owner.osType, timeZone }, given, by);
}

/** Writes checked values (null removes) to devices that the caller has locked. */
export async function mergeValues(ctx: Context, deviceIds: readonly string[], checked: Values): Promise<void> {
  const kept = Object.entries(checked).filter(([, value]) => value !== null);
  const removed = Object.keys(checked).filter((key) => checked[key] === null);
  // reach: callers have locked the devices through Device.in(ctx)
  await ctx.sql(
    'update devices set custom_fields = (custom_fields || $2::jsonb) - $3::text[] where id = any($1::uuid[])',
    [deviceIds, JSON.stringify(Object.fromEntries(kept)), removed],
  );
}

export function auditValues(ctx: Context, device: Device, checked: Values, more: Values = {}): void {
  const before = Object.fromEntries(Object.keys(checked).map((key) => [key, device.customFields[key] ?? null]));
  ctx.audit('device.custom_fields.update', {
    orgId: device.orgId,
    resourceType: 'device',
    resourceId: device.id,
    resourceName: device.hostname,
    details: { before, after: checked, ...more },
  });
}

/** Throws 400 with the path of each fault, and writes nothing then. */
export async function writeCustomValues(ctx: Context, device: Device, given: Values): Promise<void> {
  const checked = await checkedValues(ctx, device, given);
  await mergeValues(ctx, [device.id], checked);
  auditValues(ctx, device, checked);
}

/**
 * Writes values that a script reports. Checks each key by itself, and returns the keys that were not written. Throws 404.
 */
export async function writeAgentValues(
  ctx: Context,
  deviceId: string,
  given: Values,
): Promise<{ updated: string[]; failed: ValueFault[] }> {
  const device = await Device.in(ctx).findById(deviceId).forNoKeyUpdate();
  if (!device) throw errors.NotFound('Device not found');
  const { checked, failed } = await fitting(ctx, device, given);
  const changed = Object.fromEntries(
    Object.entries(checked).filter(([key, value]) => !same(device.customFields[key] ?? null, value)),
  );
  const updated = Object.keys(changed);
  if (updated.length > 0) {
    await mergeValues(ctx, [deviceId], changed);
    auditValues(ctx, device, changed, { source: 'script' });
    const { orgId, siteId } = device;
    ctx.emit(deviceUpdated, { changedFields: ['customFields'] }, { orgId, siteId, deviceId });
  } else ctx.unchanged();
  return { updated, failed };
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

async function fitting(ctx: Context, device: Device, given: Values) {
  try {
    return { checked: await checkedValues(ctx, device, given, 'script'), failed: [] };
  } catch (fault) {
    if (!(fault instanceof AppError) || fault.code !== errors.ValidationFailed.code) throw fault;
    const details = fault.details as { path: string; code: string; message: string }[];
    const failed = details.map(
      ({ path, code, message }): ValueFault => ({ key: path.slice(path.indexOf('.') + 1), code, message }),
    );
    const bad = new Set(failed.map(({ key }) => key));
    const rest = Object.fromEntries(Object.entries(given).filter(([key]) => !bad.has(key)));
    // Without a fault that names a key, the valid keys cannot be told from the others.
    if (failed.length === 0) throw fault;
    const checked = Object.keys(rest).length > 0 ? await checkedValues(ctx, device, rest, 'script') : {};
    return { checked, failed };
  }
}
