/** GET /devices: one statement, rows in the shape of the API, in pages or with a cursor. */
import { createHash } from 'node:crypto';
import { type Context, errors, isDataException } from '#core';
import type { DeviceListQuery } from '../../models/device-query.ts';
import type { DeviceCondition } from '../../slots/filter.ts';
import { customValues } from '../device-details.ts';
import { HARDWARE_SUMMARY, JOINS, LISTED, METRICS_SUMMARY } from '../statuses.ts';
import { moved, type Position, positionAfter, positionOf } from './device-walk.ts';
import { type Conditions, conditionsOf, mustReachNamed, sourcesOf } from './list-conditions.ts';

type SortedDevice = Record<string, unknown> & { id: string; sort?: string | null; walk?: string };
type ListedDevice = Record<string, unknown> & { id: string };
/** Returns another condition, whose parameters begin at `$first`. */
export type Narrow = (first: number) => DeviceCondition | Promise<DeviceCondition>;
/** The cursor form, or the page form. */
export type DeviceAnswer =
  | { devices: ListedDevice[]; nextCursor: string | null; limit: number; total?: number }
  | { data: ListedDevice[]; pagination: { page: number; limit: number; total: number } };

/**
 * Sort keys. The name is compared by bytes in lower case, so that its index provides the order in every locale
 * (migrations/001-devices.sql). `id` makes the order unique, and is in the same table as the key.
 */
const SORTS = {
  hostname: {
    key: 'd.name_key',
    id: 'd.id',
    type: 'text',
    nulls: false,
    at: 'd.renamed_at',
    version: 'd.xmin',
  },
  lastSeen: {
    key: 's.last_seen_at',
    id: 's.device_id',
    type: 'timestamptz',
    nulls: true,
    at: 's.last_seen_at',
    version: 's.xmin',
  },
  enrolled: {
    key: 'd.enrolled_at',
    id: 'd.id',
    type: 'timestamptz',
    nulls: true,
    at: 'd.enrolled_at',
    version: 'd.xmin',
  },
} as const;

/** Common page sizes, and each plus one row, which shows whether there is a next page. */
const USUAL_LIMITS = new Set([50, 100, 200, 500, 51, 101, 201, 501, 1001]);

/** The condition of a saved filter. Throws 404 when no module provides filters. */
async function filterOf(ctx: Context, filterId: string, found: Conditions): Promise<DeviceCondition> {
  const [filters] = ctx.contributionsWithin('devices.filter');
  if (!filters) throw errors.NotFound('Filter not found');
  // Organizations for which filters are disabled have no filter.
  if (filters.orgIds) found.add('d.org_id = any(?::uuid[])', filters.orgIds);
  const condition = await filters.value.condition(ctx, filterId, found.values.length + 1);
  found.addMade(condition);
  return condition;
}

const orderName = ({ sort, sortDir }: DeviceListQuery) => `devices-${sort}-${sortDir}`;

/**
 * Adds the condition for the rows after the position, without the devices of the second part; with `unknown`, for the rows
 * without a value, which follow all others. These need a query of their own, because no index finds both.
 */
function addPosition(found: Conditions, query: DeviceListQuery, position: Position, unknown = false): void {
  const { key, id: last, type, nulls, at, version } = SORTS[query.sort];
  const { value, id } = position;
  if (value === null && !nulls) throw errors.InvalidCursor();
  const sign = query.sortDir === 'desc' ? '<' : '>';
  if (unknown) found.add(`${key} is null`);
  else if (value === null) found.add(`${key} is null and ${last} ${sign} ?::uuid`, id);
  // The planner does not treat the conversion of text to a time as a constant: as a subquery it runs once, not for every row.
  else found.add(`(${key}, ${last}) ${sign} ((select ?::text::${type}), ?::uuid)`, value, id);
  const [condition, ...values] = moved(at, version, position);
  found.add(`not ${condition}`, ...values);
}

/** The devices whose sort value has changed since the walk began, by id. */
function addMoved(found: Conditions, query: DeviceListQuery, position: Position): void {
  const { at, version } = SORTS[query.sort];
  found.add(...moved(at, version, position));
  if (position.part === 'moved') found.add('d.id > ?::uuid', position.id);
}

/**
 * The name of the prepared statement. Planning six tables takes longer than reading a hundred rows, so the usual lists are
 * prepared once for each connection. Only those, because each prepared statement takes memory in every connection; and only first
 * pages, because without the value of the position the planner expects few rows after it, and reads and sorts everything.
 */
function planName(text: string, usual: boolean, { cursor }: DeviceListQuery, limit: number, offset: number) {
  if (!usual || cursor || offset > 0 || !USUAL_LIMITS.has(limit)) return undefined;
  return `devices-list-${createHash('sha1').update(text).digest('hex').slice(0, 16)}`;
}

interface Slice {
  limit: number;
  offset?: number;
  /** In the order of the ids instead of the requested one. */
  byId?: boolean;
}

async function rowsOf(ctx: Context, query: DeviceListQuery, found: Conditions, { limit, offset = 0, byId }: Slice) {
  const { key, id } = byId ? { key: 'null::text', id: 'd.id' } : SORTS[query.sort];
  const direction = byId ? 'asc' : query.sortDir;
  // reach: conditionsOf() puts reach() among the conditions of `found`
  const text = `
    select ${LISTED}, ${HARDWARE_SUMMARY}, ${METRICS_SUMMARY}, ${customValues(ctx, true).sql} as "customFields", p.sort::text as sort,
      (select pg_current_snapshot()::text) as walk
    from (select ${id}, ${key} as sort ${byId ? found.source.all : found.source.ordered} ${found.where}
      order by 2 ${direction} nulls last, 1 ${direction} limit ${limit} offset ${offset}) p (id, sort)
    join devices d on d.id = p.id ${JOINS}
    order by p.sort ${direction} nulls last, p.id ${direction}`;
  const { rows } = await ctx
    .sql<SortedDevice>(text, found.values, planName(text, found.usual, query, limit, offset))
    .catch((error: unknown) => {
      // All values are validated except those in a forged cursor.
      throw query.cursor && isDataException(error) ? errors.InvalidCursor() : error;
    });
  return rows;
}

async function totalOf(ctx: Context, found: Conditions): Promise<number> {
  const { rows } = await ctx.sql<{ n: number }>(
    `select count(*) as n ${found.source.counted} ${found.whereCounted}`,
    found.values,
  );
  return rows[0]?.n ?? 0;
}

/**
 * The rows after the position, with one row more than requested if there are more; `inOrder` of them belong to the first part.
 */
async function walkOn(ctx: Context, query: DeviceListQuery, found: Conditions, position: Position | null) {
  const wanted = query.limit + 1;
  const rows: SortedDevice[] = [];
  if (position?.part !== 'moved') {
    const ordered = found.copy();
    if (position) addPosition(ordered, query, position);
    rows.push(...(await rowsOf(ctx, query, ordered, { limit: wanted })));
    if (typeof position?.value === 'string' && SORTS[query.sort].nulls && rows.length < wanted) {
      const unknown = found.copy();
      addPosition(unknown, query, position, true);
      rows.push(...(await rowsOf(ctx, query, unknown, { limit: wanted - rows.length })));
    }
  }
  const inOrder = rows.length;
  // On the first page nothing has changed since the walk began.
  if (position && inOrder < wanted) {
    const others = found.copy();
    addMoved(others, query, position);
    rows.push(...(await rowsOf(ctx, query, others, { limit: wanted - inOrder, byId: true })));
  }
  return { rows, inOrder };
}

async function readList(ctx: Context, query: DeviceListQuery, found: Conditions): Promise<DeviceAnswer> {
  const shown = ({ sort: _sort, walk: _walk, ...row }: SortedDevice): ListedDevice => ({ ...row, id: row.id });
  if (query.page !== undefined) {
    const limit = Math.min(query.limit, 500);
    const total = await totalOf(ctx, found);
    const rows = await rowsOf(ctx, query, found, { limit, offset: (query.page - 1) * limit });
    return { data: rows.map(shown), pagination: { page: query.page, limit, total } };
  }
  const total = query.includeTotal ? { total: await totalOf(ctx, found) } : {};
  const position = query.cursor ? positionOf(orderName(query), query.cursor) : null;
  const begun = position?.begun ?? new Date().toISOString();
  const { rows, inOrder } = await walkOn(ctx, query, found, position);
  const page = rows.slice(0, query.limit);
  const last = page.at(-1);
  const nextCursor =
    rows.length > page.length && last
      ? positionAfter(orderName(query), {
          part: page.length > inOrder ? 'moved' : 'order',
          value: last.sort ?? null,
          id: last.id,
          begun,
          snapshot: position?.snapshot ?? last.walk ?? '',
        })
      : null;
  return { devices: page.map(shown), nextCursor, limit: query.limit, ...total };
}

/**
 * With `page` the legacy form, otherwise the cursor form; both together are 400.
 * @param narrow another condition, for lists of other modules
 */
export async function listDevices(ctx: Context, query: DeviceListQuery, narrow?: Narrow): Promise<DeviceAnswer> {
  await mustReachNamed(ctx, query);
  const found = await conditionsOf(ctx, query);
  const made: DeviceCondition[] = [];
  if (query.filterId) made.push(await filterOf(ctx, query.filterId, found));
  if (narrow) {
    const condition = await narrow(found.values.length + 1);
    found.addMade(condition);
    made.push(condition);
  }
  found.source = await sourcesOf(ctx, query, found, made);
  const removed = made.some((condition) => condition.removed) || query.status?.includes('decommissioned');
  if (!query.includeDecommissioned && !removed) found.add(`d.lifecycle <> 'decommissioned'`);
  let read = () => readList(ctx, query, found);
  for (const { limited } of made) {
    const inner = read;
    read = () => limited(inner);
  }
  return read();
}
