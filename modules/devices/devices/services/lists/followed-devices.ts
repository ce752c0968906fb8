/** GET /devices with updatedSince: every device, then what has changed, with details where they are asked for. */
import { type Context, changesOfList, errors, type ListChanges, type Slice } from '#core';
import type { DeviceListQuery } from '../../models/device-query.ts';
import { addDetails, DETAILED } from '../device-details.ts';
import { HARDWARE_SUMMARY, JOINS, LISTED, METRICS_SUMMARY } from '../statuses.ts';
import { type Conditions, conditionsOf, mustReachNamed, sourcesOf } from './list-conditions.ts';

type Row = Record<string, unknown> & { id: string; orgId: string };

/** Throws what the list throws, and 400 for a saved filter: what it asks for may change without any change of a device. */
export async function followDevices(ctx: Context, query: DeviceListQuery): Promise<ListChanges<Row>> {
  if (query.filterId) {
    const message = '"filterId" cannot be followed: what a filter asks for may change without a device changing';
    throw errors.ValidationFailed({ message, details: [{ in: 'query', path: 'filterId', message }] });
  }
  await mustReachNamed(ctx, query);
  const found = await conditionsOf(ctx, query);
  found.source = await sourcesOf(ctx, query, found, []);
  if (!query.includeDecommissioned && !query.status?.includes('decommissioned')) {
    found.add(`d.lifecycle <> 'decommissioned'`);
  }
  return changesOfList<Row>(ctx, query, {
    kind: 'devices',
    within: 'device',
    keyWidth: 2,
    key: ({ orgId, id }) => [orgId, id],
    rows: (slice) => rowsOf(ctx, query, found.copy(), slice),
  });
}

async function rowsOf(ctx: Context, query: DeviceListQuery, found: Conditions, slice: Slice): Promise<Row[]> {
  if ('ids' in slice) found.add('d.id = any(?::uuid[])', slice.ids);
  else if (slice.after.length > 0) found.add('(d.org_id, d.id) > (?::uuid, ?::uuid)', ...slice.after);
  const details = query.include === 'details';
  const { rows } = await ctx.sql<Row>(
    `select ${LISTED}, ${details ? DETAILED : `${HARDWARE_SUMMARY}, ${METRICS_SUMMARY}`}
     from (select d.id ${found.source.all} ${found.where} order by d.org_id, d.id
       ${'limit' in slice ? `limit ${slice.limit}` : ''}) p
     join devices d on d.id = p.id ${JOINS} order by d.org_id, d.id`,
    found.values,
  );
  if (details) await addDetails(ctx, rows);
  return rows;
}
