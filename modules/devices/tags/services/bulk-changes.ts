/** Tags of many devices at once. */
import type { Context } from '#core';
import { invalid, TooManyDevices } from '../errors.ts';
import type { BulkChange } from '../models/tag-query.ts';

/** Devices that a filter may match. */
const MOST = 5000;

async function targets(ctx: Context, { deviceIds, filter }: BulkChange): Promise<string[]> {
  if (deviceIds) return deviceIds;
  const filters = ctx.use('filters');
  await filters.compile(filter, { path: 'filter' });
  const ids = await filters.matching(filter);
  if (ids.length > MOST) throw TooManyDevices({ details: [{ devices: ids.length }] });
  return ids;
}

/**
 * Each device by itself: one that would have too many tags fails alone. Throws 400 for no tags, for one that is both
 * added and removed, and with the place of each bad one; FILTER_TOO_EXPENSIVE; 422 TOO_MANY_DEVICES.
 */
export async function changeInBulk(ctx: Context, input: BulkChange) {
  const devices = ctx.use('devices');
  const add = devices.checkedTags(input.add, 'add');
  const remove = devices.checkedTags(input.remove, 'remove');
  if (add.length + remove.length === 0) throw invalid('add', 'Name tags to add or to remove');
  const both = add.find((tag) => remove.includes(tag));
  if (both) throw invalid('remove', `${both} cannot be added and removed`);
  const outcome = await devices.changeTags(await targets(ctx, input), { add, remove, source: 'tags.bulk' });
  if (outcome.changed === 0) ctx.unchanged();
  return outcome;
}
