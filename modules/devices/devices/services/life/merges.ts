/** Merges two rows of one machine: the history and what users have set move to one row, and the other is decommissioned. */
import { type Context, errors } from '#core';
import { DeviceOnline } from '../../errors.ts';
import deviceMerged from '../../events/merged.ts';
import deviceUpdated from '../../events/updated.ts';
import { Device } from '../../models/device.ts';
import { isReserved, MAX_TAGS } from '../../models/tag.ts';
import { isOnline } from '../devices.ts';
import { decommission } from './lifecycles.ts';
import { about, named, notIn } from './transitions.ts';

/** Rows of history that one statement of the job moves. */
const MAX_ROWS = 5000;

/**
 * Merges `id` into `intoDeviceId`. Throws 400 for a device of another organization or operating system, or the same device; 409
 * INVALID_STATE unless `id` is active or quarantined and the other one active; 409 DEVICE_ONLINE when `id` still reports.
 */
export async function mergeDevice(ctx: Context, id: string, intoDeviceId: string): Promise<void> {
  if (id === intoDeviceId) throw misfit('The device cannot be merged into itself');
  const found = await Device.in(ctx).findByIds([id, intoDeviceId]).orderBy('devices.id').forNoKeyUpdate();
  const from = found.find((one) => one.id === id);
  const into = found.find((one) => one.id === intoDeviceId);
  if (!from || !into) throw errors.NotFound('Device not found');
  if (from.orgId !== into.orgId) throw misfit('Both devices must lie in the same organization');
  if (from.osType !== into.osType) throw misfit('Both devices must have the same operating system');
  if (into.lifecycle !== 'active') throw notIn(into.lifecycle, ['active']);
  if (await isOnline(ctx, id)) throw DeviceOnline();
  const taken = manualFields(from, into);
  await Device.in(ctx)
    .where({ id: intoDeviceId })
    .patch({ ...taken, possibleReplacementOfDeviceId: null, updatedAt: new Date() } as Partial<Device>);
  const { orgId, hostname } = into;
  const merge = { orgId, fromDeviceId: id, intoDeviceId };
  // Before the decommission, which deletes some of what they move.
  for (const { merged } of ctx.contributions('devices.follower')) await merged?.(ctx, merge);
  await decommission(ctx, id, {
    mode: 'merge',
    // The agent on the machine belongs to the other row.
    uninstall: false,
    from: ['active', 'quarantined'],
    also: { mergedIntoDeviceId: intoDeviceId },
  });
  ctx.addJob('devices/merge-history', merge, { key: `devices-merge:${id}`, orgId });
  const changedFields = Object.keys(taken);
  ctx.audit('device.merge', {
    ...named(into),
    details: { mergedDeviceId: id, mergedHostname: from.hostname, changedFields },
  });
  ctx.emit(deviceMerged, { hostname, mergedDeviceId: id }, about(into));
  if (changedFields.length > 0) ctx.emit(deviceUpdated, { changedFields }, about(into));
}

const misfit = (message: string): Error =>
  errors.ValidationFailed({ message, details: [{ in: 'payload', path: 'intoDeviceId', message }] });

/** What users have set on the old row, where no user has set a value on the new one. */
function manualFields(from: Device, into: Device): Partial<Device> {
  const tags = [...new Set([...into.tags, ...from.tags.filter((tag) => !isReserved(tag))])].slice(0, MAX_TAGS).sort();
  const customFields = { ...from.customFields, ...into.customFields };
  const keys = Object.keys(customFields);
  return {
    ...(into.displayName === null && from.displayName !== null ? { displayName: from.displayName } : {}),
    ...(tags.length > into.tags.length ? { tags } : {}),
    ...(keys.length > Object.keys(into.customFields).length ? { customFields } : {}),
    ...(from.deviceRoleSource === 'manual' && into.deviceRoleSource === 'agent'
      ? { deviceRole: from.deviceRole, deviceRoleSource: 'manual' as const }
      : {}),
  };
}

/** Moves at most MAX_ROWS rows of each kind; true when rows are left. Repeats move what is left. Platform role. */
export async function mergeHistory(ctx: Context, fromDeviceId: string, intoDeviceId: string): Promise<boolean> {
  // reach: job with the platform role, of devices that were checked when the merge was requested
  const known = await Device.query(ctx.trx).findById(intoDeviceId).forKeyShare().select('id', 'orgId');
  if (!known) return false;
  let more = false;
  const take = async (text: string): Promise<void> => {
    const { rowCount } = await ctx.sql(text, [fromDeviceId, intoDeviceId, MAX_ROWS, known.orgId]);
    more ||= (rowCount ?? 0) >= MAX_ROWS;
  };
  // reach: job with the platform role, of devices that were checked when the merge was requested
  await take(
    `update device_changes set device_id = $2 where id in (
       select id from device_changes where device_id = $1 and org_id = $4 limit $3)`,
  );
  // reach: job with the platform role, of devices that were checked when the merge was requested
  await take(
    `with old as (
       delete from device_ip_history where id in (
         select id from device_ip_history where device_id = $1 and org_id = $4 limit $3)
       returning org_id, ip, kind, first_seen_at, last_seen_at, audited_at)
     insert into device_ip_history as h (device_id, org_id, ip, kind, first_seen_at, last_seen_at, audited_at)
     select $2, old.* from old on conflict (device_id, org_id, kind, ip) do update
       set first_seen_at = least(h.first_seen_at, excluded.first_seen_at),
         last_seen_at = greatest(h.last_seen_at, excluded.last_seen_at)`,
  );
  const merge = { orgId: known.orgId, fromDeviceId, intoDeviceId };
  for (const { mergedHistory } of ctx.contributions('devices.follower')) {
    if (await mergedHistory?.(ctx, merge, MAX_ROWS)) more = true;
  }
  return more;
}
