/** GET /devices: one statement, rows in the shape of the API, in pages or behind a cursor. */
import { createHash } from 'node:crypto';
import { type Context, errors } from '#core';
import type { DeviceListQuery } from '../../models/device-query.ts';
import type { DeviceCondition } from '../../slots/filter.ts';
import { HARDWARE_SUMMARY, JOINS, LISTED, METRICS_SUMMARY } from '../statuses.ts';
import { moved, type Position, positionAfter, positionOf } from './device-walk.ts';
import { type Conditions, conditionsOf, mustReachNamed, sourcesOf } from './list-conditions.ts';

type Row = Record<string, unknown> & { id: string; sort?: string | null; walk?: string };
type Shown = Record<string, unknown> & { id: string };
/** Returns another condition, whose parameters begin at `$first`. */
export type Narrow = (first: number) => DeviceCondition | Promise<DeviceCondition>;
/** The cursor form, or the page form. */
export type DeviceAnswer =
  | { devices: Shown[]; nextCursor: string | null; limit: number; total?: number }
  | { data: Shown[]; pagination: { page: number; limit: number; total: number } };

/**
 * Sort keys; the name is compared by bytes in lower case, so that its index serves the order whatever the server's language
 * (migrations/001-devices.sql). `id` ends the order: it lies in the same table as the key.
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

/** Sizes of a page that people ask for, and one more to see whether there is a next one. */
const USUAL_LIMITS = new Set([50, 100, 200, 500, 51, 101, 201, 501, 1001]);

/** The saved filter's condition; without the module that knows filters there are none to name. */
async function filterOf(ctx: Context, filterId: string, found: Conditions): Promise<DeviceCondition> {
  const [filters] = ctx.contributionsWithin('devices.filter');
  if (!filters) throw errors.NotFound('Filter not found');
  // Whom the filters are switched off for has none that could find anything.
  if (filters.orgIds) found.add('d.org_id = any(?::uuid[])', filters.orgIds);
  const condition = await filters.value.condition(ctx, filterId, found.values.length + 1);
  found.addMade(condition);
  return condition;
}

const orderName = ({ sort, sortDir }: DeviceListQuery) => `devices-${sort}-${sortDir}`;

/**
 * What comes after the position in the order, without the devices that the walk's second part shows; with `unknown`, those
 * without a value that follow all others. They are a list of their own, since no index finds both in one go.
 */
function addPosition(found: Conditions, query: DeviceListQuery, position: Position, unknown = false): void {
  const { key, id: last, type, nulls, at, version } = SORTS[query.sort];
  const { value, id } = position;
  if (value === null && !nulls) throw errors.InvalidCursor();
  const sign = query.sortDir === 'desc' ? '<' : '>';
  if (unknown) found.add(`${key} is null`);
  else if (value === null) found.add(`${key} is null and ${last} ${sign} ?::uuid`, id);
  // Reading a time from text is no constant to the planner: in a query of its own it happens once, not for every row.
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
 * Planning six tables takes longer than reading a hundred rows, so the usual lists are prepared once a connection. Only
 * those: each name stays in the memory of every connection. And only beginnings: without knowing the position, the planner
 * takes what follows it for so little that it reads and sorts everything.
 */
function planName(text: string, usual: boolean, { cursor }: DeviceListQuery, limit: number, offset: number) {
  if (!usual || cursor || offset > 0 || !USUAL_LIMITS.has(limit)) return undefined;
  return `devices-list-${createHash('sha1').update(text).digest('hex').slice(0, 16)}`;
}

interface Slice {
  limit: number;
  offset?: number;
  /** By id instead of the order asked for. */
  byId?: boolean;
}

async function rowsOf(ctx: Context, query: DeviceListQuery, found: Conditions, { limit, offset = 0, byId }: Slice) {
  const { key, id } = byId ? { key: 'null::text', id: 'd.id' } : SORTS[query.sort];
  const direction = byId ? 'asc' : query.sortDir;
  // reach: conditionsOf() puts reach() among the conditions of `found`
  const text = `
    select ${LISTED}, ${HARDWARE_SUMMARY}, ${METRICS_SUMMARY}, p.sort::text as sort,
      (select pg_current_snapshot()::text) as walk
    from (select ${id}, ${key} as sort ${byId ? found.source.all : found.source.ordered} ${found.where}
      order by 2 ${direction} nulls last, 1 ${direction} limit ${limit} offset ${offset}) p (id, sort)
    join devices d on d.id = p.id ${JOINS}
    order by p.sort ${direction} nulls last, p.id ${direction}`;
  const { rows } = await ctx
    .sql<Row>(text, found.values, planName(text, found.usual, query, limit, offset))
    .catch((error: { code?: string }) => {
      // Class 22, data exception: of all values only those in a forged cursor have not been checked.
      throw query.cursor && error.code?.startsWith('22') ? errors.InvalidCursor() : error;
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

/** The rows after the position, one more than asked for where there are more, each with the part it belongs to. */
async function walkOn(ctx: Context, query: DeviceListQuery, found: Conditions, position: Position | null) {
  const wanted = query.limit + 1;
  const rows: Row[] = [];
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
  const shown = ({ sort: _sort, walk: _walk, ...row }: Row): Shown => ({ ...row, id: row.id });
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
 * `page` asks for the legacy form, anything else gives the cursor form; both at once are refused (400).
 * @param narrow another condition, for lists that other modules make of this one
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
