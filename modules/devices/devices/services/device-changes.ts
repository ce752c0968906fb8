/** GET /devices/{id}/changes: the history of a device, newest first. */
import { type Context, page, type SortKey } from '#core';
import { type ChangeQuery, DeviceChange } from '../models/device-change.ts';
import { mustExist } from './devices.ts';

const ORDER = {
  name: 'device-changes-newest',
  keys: [
    { expression: 'device_changes.at', direction: 'desc', type: 'timestamptz' },
    { expression: 'device_changes.id', direction: 'desc', type: 'uuid' },
  ] satisfies SortKey[],
};

/** Throws 404. Changes that the device reported in another organization are visible to callers of that organization only. */
export async function listChanges(ctx: Context, deviceId: string, { field, from, to, ...paging }: ChangeQuery) {
  await mustExist(ctx, deviceId);
  const changes = DeviceChange.in(ctx).select('id', 'at', 'field', 'before', 'after').where({ deviceId });
  if (field) changes.where('device_changes.field', field);
  if (from) changes.where('device_changes.at', '>=', from);
  if (to) changes.where('device_changes.at', '<', to);
  return page(changes, paging, ORDER);
}
