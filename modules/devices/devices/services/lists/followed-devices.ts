/** GET /devices with updatedSince: every device, then the changes, with details on request. */
import { type Context, changesOfList, errors, type ListChanges, type Slice } from '#core';
import type { DeviceListQuery } from '../../models/device-query.ts';
import { addDetails, customValues, detailedFor, hideUnreached } from '../device-details.ts';
import { HARDWARE_SUMMARY, JOINS, LISTED, METRICS_SUMMARY } from '../statuses.ts';
import { type Conditions, conditionsOf, mustReachNamed, sourcesOf } from './list-conditions.ts';

type FollowedDevice = Record<string, unknown> & { id: string; orgId: string };

/** Throws the errors of the list, and 400 for a saved filter: its result can change without a change of a device. */
export async function followDevices(ctx: Context, query: DeviceListQuery): Promise<ListChanges<FollowedDevice>> {
  if (query.filterId) {
    const message =
      '"filterId" cannot be used with updatedSince: the result of a filter can change without a change of a device';
    throw errors.ValidationFailed({ message, details: [{ in: 'query', path: 'filterId', message }] });
  }
  await mustReachNamed(ctx, query);
  const found = await conditionsOf(ctx, query);
  found.source = await sourcesOf(ctx, query, found, []);
  if (!query.includeDecommissioned && !query.status?.includes('decommissioned')) {
    found.add(`d.lifecycle <> 'decommissioned'`);
  }
  return changesOfList<FollowedDevice>(ctx, query, {
    kind: 'devices',
    within: 'device',
    keyWidth: 2,
    key: ({ orgId, id }) => [orgId, id],
    rows: (slice) => rowsOf(ctx, query, found.copy(), slice),
  });
}

async function rowsOf(
  ctx: Context,
  query: DeviceListQuery,
  found: Conditions,
  slice: Slice,
): Promise<FollowedDevice[]> {
  if ('ids' in slice) found.add('d.id = any(?::uuid[])', slice.ids);
  else if (slice.after.length > 0) found.add('(d.org_id, d.id) > (?::uuid, ?::uuid)', ...slice.after);
  const details = query.include === 'details';
  // reach: conditionsOf() puts reach() among the conditions of `found`
  const { rows } = await ctx.sql<FollowedDevice>(
    `select ${LISTED}, ${details ? detailedFor(ctx) : `${HARDWARE_SUMMARY}, ${METRICS_SUMMARY}, ${customValues(ctx, true).sql} as "customFields"`}
     from (select d.id ${found.source.all} ${found.where} order by d.org_id, d.id
       ${'limit' in slice ? `limit ${slice.limit}` : ''}) p
     join devices d on d.id = p.id ${JOINS} order by d.org_id, d.id`,
    found.values,
  );
  if (details) {
    await addDetails(ctx, rows);
    for (const row of rows) await hideUnreached(ctx, row);
  }
  return rows;
}
