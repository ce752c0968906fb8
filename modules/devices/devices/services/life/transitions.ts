/** One change of a device's lifecycle: a compare-and-set that reports the current state when the change is not possible. */
import { type Context, errors } from '#core';
import type { Lifecycle } from '../../models/device.ts';
import { Device } from '../../models/device.ts';
import { mustExist } from '../devices.ts';

/** Fields of a device that no other module needs. */
export interface LifecycleFields {
  lifecycle: Lifecycle;
  decommissionedAt: Date | null;
  decommissionedBy: string | null;
  uninstallRequestedAt: Date | null;
  uninstallConfirmedAt: Date | null;
  quarantinedAt: Date | null;
  quarantineReason: string | null;
  mergedIntoDeviceId: string | null;
  purgeRequestedAt: Date | null;
}

export const notIn = (current: string, allowed: readonly string[]): Error =>
  errors.InvalidState({ details: [{ current, allowed }] });

/** The changed row. Throws 404 for a device that the caller does not see, 409 INVALID_STATE {current, allowed}. */
export async function moveOn(
  ctx: Context,
  id: string,
  from: readonly Lifecycle[],
  fields: Partial<LifecycleFields>,
): Promise<Device> {
  const changed = await Device.in(ctx)
    .where({ id })
    .whereIn('devices.lifecycle', from)
    .whereNull('devices.purgeRequestedAt')
    .patch({ ...fields, updatedAt: new Date() } as Partial<Device>)
    .returning('*')
    .first();
  if (changed) return changed;
  const { lifecycle, purgeRequestedAt } = await mustExist(ctx, id);
  throw notIn(purgeRequestedAt ? 'purging' : lifecycle, from);
}

/** The subject of an event, and the device in an audit entry. */
export const about = ({ id, orgId, siteId }: Device) => ({ orgId, siteId, deviceId: id });
export const named = ({ id, orgId, hostname }: Device) => ({ orgId, resourceId: id, resourceName: hostname });
