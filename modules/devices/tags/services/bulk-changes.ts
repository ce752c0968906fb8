/** Changes tags of many devices. */
import type { Context } from '#core';
import { invalid, TooManyDevices } from '../errors.ts';
import type { BulkChange } from '../models/tag-query.ts';

/** Devices that a filter may match. */
const MAX_DEVICES = 5000;

async function targets(ctx: Context, { deviceIds, filter }: BulkChange): Promise<string[]> {
  if (deviceIds) return deviceIds;
  const filters = ctx.use('filters');
  await filters.compile(filter, { path: 'filter' });
  const ids = await filters.matching(filter);
  if (ids.length > MAX_DEVICES) throw TooManyDevices({ details: [{ devices: ids.length }] });
  return ids;
}

/**
 * Changes each device by itself: a device that would have too many tags fails alone. Throws 400 without any tag, for a tag that
 * is both added and removed, and with the path of each invalid tag; FILTER_TOO_EXPENSIVE; 422 TOO_MANY_DEVICES.
 */
export async function changeInBulk(ctx: Context, input: BulkChange) {
  const devices = ctx.use('devices');
  const add = devices.checkedTags(input.add, 'add');
  const remove = devices.checkedTags(input.remove, 'remove');
  if (add.length + remove.length === 0) throw invalid('add', 'At least one tag must be added or removed');
  const both = add.find((tag) => remove.includes(tag));
  if (both) throw invalid('remove', `${both} cannot be both added and removed`);
  const outcome = await devices.changeTags(await targets(ctx, input), { add, remove, source: 'tags.bulk' });
  if (outcome.changed === 0) ctx.unchanged();
  return outcome;
}
