/** GET /devices: one statement, rows in the shape of the API, in pages or behind a cursor (domain/devices, section 3.1). */
import { createHash } from 'node:crypto';
import { type Context, decodeCursor, encodeCursor, errors, mustAccessSite, mustReachOrg } from '#core';
import { HARDWARE_SUMMARY, JOINS, LISTED, METRICS_SUMMARY, STATUS } from './statuses.ts';

export interface DeviceListQuery {
  page?: number;
  limit: number;
  cursor?: string;
  sort: 'hostname' | 'lastSeen' | 'enrolled';
  sortDir: 'asc' | 'desc';
  orgIds?: string[];
  siteIds?: string[];
  includeDecommissioned: boolean;
  includeTotal: boolean;
  search?: string;
  status?: string[];
  osType?: string[];
  tag?: string;
}
type Row = Record<string, unknown> & { id: string; sort?: string | null };

/** Sort keys; the name is compared by bytes, so that its index serves the order whatever the server's language. */
const SORTS = {
  hostname: { key: 'lower(d.hostname) collate "C"', type: 'text', nulls: false },
  lastSeen: { key: 's.last_seen_at', type: 'timestamptz', nulls: true },
  enrolled: { key: 'd.enrolled_at', type: 'timestamptz', nulls: true },
} as const;

/** Sizes of a page that people ask for, and one more to see whether there is a next one. */
const USUAL_LIMITS = new Set([50, 100, 200, 500, 51, 101, 201, 501, 1001]);

/** Conditions with their values; each `?` becomes the next parameter. */
class Conditions {
  readonly values: unknown[] = [];
  readonly parts: string[] = [];

  add(part: string, ...values: unknown[]): void {
    let next = 0;
    this.parts.push(part.replaceAll('?', () => `$${this.values.push(values[next++])}`));
  }

  get where(): string {
    return this.parts.length > 0 ? `where ${this.parts.join(' and ')}` : '';
  }
}

/** Naming what lies out of reach is refused: an answer with a part left out looks complete. */
async function mustReachNamed(ctx: Context, { orgIds, siteIds }: DeviceListQuery): Promise<void> {
  for (const orgId of orgIds ?? []) mustReachOrg(ctx, orgId);
  for (const siteId of siteIds ?? []) mustAccessSite(ctx, siteId);
  if (siteIds) {
    const { rows } = await ctx.sql<{ n: number }>('select count(*) as n from sites where id = any($1::uuid[])', [
      siteIds,
    ]);
    if (rows[0]?.n !== new Set(siteIds).size) throw errors.NotFound('Site not found');
  }
}

function conditionsOf(ctx: Context, query: DeviceListQuery): Conditions {
  const { scope } = ctx;
  const found = new Conditions();
  const orgIds = query.orgIds ?? scope.orgIds;
  if (orgIds) found.add('d.org_id = any(?::uuid[])', orgIds);
  if (scope.siteIds) found.add('d.site_id = any(?::uuid[])', scope.siteIds);
  // Nobody can belong to a group yet, so a caller limited to groups sees nothing.
  if (scope.groupIds) found.add('false');
  if (query.siteIds) found.add('d.site_id = any(?::uuid[])', query.siteIds);
  if (!query.includeDecommissioned && !query.status?.includes('decommissioned')) {
    found.add(`d.lifecycle <> 'decommissioned'`);
  }
  if (query.osType) found.add('d.os_type = any(?)', query.osType);
  if (query.status) found.add(`${STATUS} = any(?)`, query.status);
  if (query.tag) found.add('d.tags @> array[?::text]', query.tag);
  if (query.search) {
    const pattern = `%${query.search.replaceAll(/[\\%_]/g, '\\$&')}%`;
    const fields = ['d.hostname', 'd.display_name', 'h.serial_number', 's.last_seen_ip', 's.lan_ip'];
    found.add(`(${fields.map((field) => `${field} ilike ?`).join(' or ')})`, ...fields.map(() => pattern));
  }
  return found;
}

/** Only the tables that conditions and order ask for are joined before the rows of the page are picked. */
function sourceOf(query: DeviceListQuery): string {
  const state = query.status || query.search || query.sort === 'lastSeen';
  return `from devices d ${state ? 'join device_state s on s.device_id = d.id' : ''}
    ${query.search ? 'left join device_hardware h on h.device_id = d.id' : ''}`;
}

const orderName = ({ sort, sortDir }: DeviceListQuery) => `devices-${sort}-${sortDir}`;

function addPosition(found: Conditions, query: DeviceListQuery): void {
  if (!query.cursor) return;
  const { key, type, nulls } = SORTS[query.sort];
  const [value = null, id = null] = decodeCursor(orderName(query), query.cursor, 2);
  if (id === null || (value === null && !nulls)) throw errors.InvalidCursor();
  const sign = query.sortDir === 'desc' ? '<' : '>';
  if (value === null) {
    found.add(`${key} is null and d.id ${sign} ?::uuid`, id);
    return;
  }
  const past = `(${key}, d.id) ${sign} (?::text::${type}, ?::uuid)`;
  found.add(nulls ? `(${past} or ${key} is null)` : past, value, id);
}

/**
 * Planning six tables takes longer than reading a hundred rows, so the usual lists are prepared once a connection. Only
 * those: each name stays in the memory of every connection.
 */
function planName(text: string, query: DeviceListQuery, limit: number, offset: number): string | undefined {
  if (query.search || offset > 0 || !USUAL_LIMITS.has(limit)) return undefined;
  return `devices-list-${createHash('sha1').update(text).digest('hex').slice(0, 16)}`;
}

async function rowsOf(ctx: Context, query: DeviceListQuery, found: Conditions, limit: number, offset: number) {
  const { key } = SORTS[query.sort];
  const text = `
    select ${LISTED}, ${HARDWARE_SUMMARY}, ${METRICS_SUMMARY}, p.sort::text as sort
    from (select d.id, ${key} as sort ${sourceOf(query)} ${found.where}
      order by 2 ${query.sortDir} nulls last, d.id ${query.sortDir} limit ${limit} offset ${offset}) p
    join devices d on d.id = p.id ${JOINS}
    order by p.sort ${query.sortDir} nulls last, p.id ${query.sortDir}`;
  const { rows } = await ctx
    .sql<Row>(text, found.values, planName(text, query, limit, offset))
    .catch((error: { code?: string }) => {
      // Class 22, data exception: of all values only those in a forged cursor have not been checked.
      throw query.cursor && error.code?.startsWith('22') ? errors.InvalidCursor() : error;
    });
  return rows;
}

async function totalOf(ctx: Context, query: DeviceListQuery, found: Conditions): Promise<number> {
  const { rows } = await ctx.sql<{ n: number }>(`select count(*) as n ${sourceOf(query)} ${found.where}`, found.values);
  return rows[0]?.n ?? 0;
}

/** `page` asks for the legacy form, anything else gives the cursor form; both at once are refused (400). */
export async function listDevices(ctx: Context, query: DeviceListQuery): Promise<object> {
  await mustReachNamed(ctx, query);
  const found = conditionsOf(ctx, query);
  if (query.page !== undefined) {
    const limit = Math.min(query.limit, 500);
    const total = await totalOf(ctx, query, found);
    const rows = await rowsOf(ctx, query, found, limit, (query.page - 1) * limit);
    for (const row of rows) delete row.sort;
    return { data: rows, pagination: { page: query.page, limit, total } };
  }
  const total = query.includeTotal ? { total: await totalOf(ctx, query, found) } : {};
  addPosition(found, query);
  const rows = await rowsOf(ctx, query, found, query.limit + 1, 0);
  const more = rows.length > query.limit;
  if (more) rows.pop();
  const last = rows.at(-1);
  const nextCursor = more && last ? encodeCursor(orderName(query), [last.sort, last.id]) : null;
  for (const row of rows) delete row.sort;
  return { devices: rows, nextCursor, limit: query.limit, ...total };
}
