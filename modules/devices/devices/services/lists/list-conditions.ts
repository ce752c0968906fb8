/** The query of the device list as conditions over `devices d`, and the tables that it reads. */
import { type Context, errors, inGroups, mustReachOrg, mustReachSites, reach } from '#core';
import type { DeviceListQuery } from '../../models/device-query.ts';
import { tagKey } from '../../models/tag.ts';
import type { DeviceCondition } from '../../slots/filter.ts';
import { STATUS } from '../statuses.ts';
import { customSearch, idsWithCustomText, idsWithTag, idsWithText, partOf, textSource } from './list-search.ts';

/** The `from` clauses: for all rows, for the first rows of the order, and for a count. */
interface Sources {
  all: string;
  ordered: string;
  counted: string;
}

/** Conditions with their values; each `?` becomes the next parameter. */
export class Conditions {
  readonly values: unknown[] = [];
  readonly parts: string[] = [];
  /** The tables that the conditions refer to. */
  // reach: conditionsOf() puts reach() among the conditions of every list
  source: Sources = { all: 'from devices d', ordered: 'from devices d', counted: 'from devices d' };
  /** False when another module made a condition: then the statement is not worth preparing. */
  usual = true;
  /** A frequent text, which is searched row by row in three tables; counts use the index. */
  byText: { part: number; counted: string } | null = null;
  /** An index has found the ids of all rows. */
  few = false;

  add(part: string, ...values: unknown[]): void {
    let next = 0;
    this.parts.push(part.replaceAll('?', () => `$${this.values.push(values[next++])}`));
  }

  /** Adds a condition whose parameters begin after the current ones. */
  addMade({ where, params }: DeviceCondition): void {
    this.parts.push(`(${where})`);
    this.values.push(...params);
    this.usual = false;
  }

  copy(): Conditions {
    const made = new Conditions();
    made.values.push(...this.values);
    made.parts.push(...this.parts);
    return Object.assign(made, { source: this.source, usual: this.usual, byText: this.byText, few: this.few });
  }

  get where(): string {
    return whereOf(this.parts);
  }

  /** The same rows, for a count of all of them. */
  get whereCounted(): string {
    const { byText } = this;
    return whereOf(this.parts.map((part, index) => (index === byText?.part ? byText.counted : part)));
  }
}
const whereOf = (parts: readonly string[]) => (parts.length > 0 ? `where ${parts.join(' and ')}` : '');

/** Throws 403 or 404 for organizations, sites and groups out of reach: a list without them would look complete. */
export async function mustReachNamed(ctx: Context, { orgIds, siteIds, groupIds }: DeviceListQuery): Promise<void> {
  for (const orgId of orgIds ?? []) mustReachOrg(ctx, orgId);
  if (siteIds) await mustReachSites(ctx, siteIds);
  if (groupIds) {
    const [groups] = ctx.contributions('devices.groups');
    const unseen = groups ? await groups.unseen(ctx, groupIds) : groupIds;
    if (unseen.length > 0) throw errors.NotFound('Device group not found');
  }
}

/** A condition that many rows meet. The planner cannot know that; in this form it expects half of the rows. */
const frequent = (condition: string) => `case when ${condition} then true else false end`;

/** Statuses that are lifecycles, which have an index, and statuses that most devices have. */
const LIFECYCLES = new Set(['pending', 'quarantined', 'decommissioned']);
const FREQUENT = new Set(['online', 'offline']);
const asksForFrequent = ({ status }: DeviceListQuery): boolean => status?.some((one) => FREQUENT.has(one)) === true;

function addStatus(query: DeviceListQuery, found: Conditions): void {
  const { status } = query;
  if (!status) return;
  const condition = `${STATUS} = any(?)`;
  found.add(asksForFrequent(query) ? frequent(condition) : condition, status);
  if (status.every((one) => LIFECYCLES.has(one))) found.add('d.lifecycle = any(?)', status);
}

/** Searches text and tag by their indexes or, when these find too many devices, row by row. */
async function addSought(ctx: Context, { tag, search }: DeviceListQuery, found: Conditions): Promise<void> {
  const addFew = (ids: string[]) => {
    found.add('d.id = any(?::uuid[])', ids);
    found.few = true;
  };
  if (tag) {
    const key = tagKey(tag);
    const ids = await idsWithTag(ctx, key);
    if (ids) addFew(ids);
    else found.add(frequent('d.tags @> array[?::text]'), key);
  }
  if (!search) return;
  const custom = await customSearch(ctx, search);
  const [ids, others] = [await idsWithText(ctx, search), custom ? await idsWithCustomText(ctx, custom) : []];
  if (ids && others) return addFew([...new Set([...ids, ...others])]);
  const pattern = `$${found.values.push(partOf(search))}::text`;
  const fields = ['d.hostname', 'd.display_name', 'h.serial_number', 's.last_seen_ip', 's.lan_ip'];
  const conditions = fields.map((field) => `${field} ilike ${pattern}`);
  const sources = [textSource(ctx, pattern, 'null')];
  if (custom) {
    const source = custom.source((value, type) => `$${found.values.push(value)}::${type}`, 'null');
    sources.push(source);
    conditions.push(`d.id in (select f.device_id from ${source} f)`);
  }
  const part = found.parts.push(frequent(conditions.join(' or '))) - 1;
  // "is true" keeps the planner from looking each of the devices up.
  const counted = sources.map((source) => `select f.device_id from ${source} f`).join(' union all ');
  found.byText = { part, counted: `(d.id in (${counted})) is true` };
}

export async function conditionsOf(ctx: Context, query: DeviceListQuery): Promise<Conditions> {
  const found = new Conditions();
  const scope = { ...ctx.scope, orgIds: query.orgIds ?? ctx.scope.orgIds };
  const parameter = (value: unknown, type: string) => `$${found.values.push(value)}::${type}`;
  found.parts.push(reach({ scope }, 'd', parameter));
  if (query.siteIds) found.add('d.site_id = any(?::uuid[])', query.siteIds);
  if (query.groupIds) found.parts.push(inGroups('d.id', parameter(query.groupIds, 'uuid[]')));
  if (query.osType) found.add('d.os_type = any(?)', query.osType);
  addStatus(query, found);
  await addSought(ctx, query, found);
  return found;
}

/**
 * Whether the caller reaches so many of all devices that sorting all states by the last heartbeat is faster than looking up the
 * state of each device. `last_seen_at` has no index, because an index would prevent heap-only updates by heartbeats.
 */
async function reachesMost(ctx: Context, query: DeviceListQuery, found: Conditions): Promise<boolean> {
  const { siteIds, groupIds } = ctx.scope;
  if (found.few || siteIds || groupIds || query.orgIds || query.siteIds || query.groupIds) return false;
  const values: unknown[] = [];
  const seen = reach(ctx, 'd', (value, type) => `$${values.push(value)}::${type}`);
  const { rows } = await ctx.sql<{ most: boolean }>(
    `select (select count(*) from (select from devices d where ${seen} limit most.n) few) >= most.n as most
     from (select greatest(2000, reltuples / 5)::bigint as n from pg_class where oid = 'device_state'::regclass) most`,
    values,
    'devices-list-reach',
  );
  return rows[0]?.most === true;
}

const STATE = 'device_state s on s.device_id = d.id';
const HARDWARE = 'device_hardware h on h.device_id = d.id';

/**
 * Only the tables that conditions and order need. With row-level security the planner expects few rows of a tenant, and reads and
 * sorts them all; `offset 0` prevents that where an index provides the order and the page may be full soon.
 */
export async function sourcesOf(
  ctx: Context,
  query: DeviceListQuery,
  found: Conditions,
  made: readonly DeviceCondition[],
): Promise<Sources> {
  const sorted = query.sort === 'lastSeen';
  const others = made.flatMap((condition) => condition.joins);
  const joins = (own: [alias: string, sql: string, wanted: boolean][]) => {
    const all = own.filter(([alias, , wanted]) => wanted && !others.some((other) => other.alias === alias));
    return [...all.map(([, sql]) => sql), ...others.map(({ sql }) => sql)].join(' ');
  };
  const text = found.byText !== null;
  const status = query.status !== undefined;
  // reach: conditionsOf() puts reach() among the conditions of every list
  const all = `from devices d ${joins([
    ['s', `join ${STATE}`, status || text || sorted],
    ['h', `left join ${HARDWARE}`, text],
  ])}`;
  // reach: conditionsOf() puts reach() among the conditions of every list
  const counted = `from devices d ${joins([['s', `join ${STATE}`, status]])}`;
  // reach: conditionsOf() puts reach() among the conditions of every list
  const lateral = (table: string, alias: string, on = 'device_id') =>
    `lateral (select * from ${table} x where x.${on} = ${on === 'id' ? 's.device_id' : 'd.id'} offset 0) ${alias}`;
  const hardware = text ? ` left join ${lateral('device_hardware', 'h')} on true` : '';
  const rare = made.length > 0 || (status && !asksForFrequent(query));
  if (rare || (sorted && !(await reachesMost(ctx, query, found)))) return { all, ordered: all, counted };
  const state = status || text ? ` cross join ${lateral('device_state', 's')}` : '';
  // reach: conditionsOf() puts reach() among the conditions of every list
  const ordered = sorted
    ? `from (select x.*, x.xmin from device_state x
        order by x.last_seen_at ${query.sortDir} nulls last, x.device_id ${query.sortDir} offset 0) s
      cross join ${lateral('devices', 'd', 'id')}${hardware}`
    : `from devices d${state}${hardware}`;
  return { all, ordered, counted };
}
