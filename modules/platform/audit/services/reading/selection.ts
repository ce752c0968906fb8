/** The entries of a request as SQL: the caller's reach, the filters, and the newest matches. */
import { type AddParameter, type Context, mustAccessOrg } from '#core';
import type { AuditRow } from '#core/audit';
import type { AuditFilter } from '../../models/audit-log.ts';
import { seenEntries } from './limits.ts';

export interface EntryRow extends Omit<AuditRow, 'partnerId'> {
  id: string;
  owner: string;
  seq: number;
  timestamp: Date;
  /** The same with its microseconds, which a Date loses; for cursors. */
  at: string;
}
export const COLUMNS = `l.id, l.owner, l.seq, l.org_id as "orgId", l.timestamp, l.timestamp::text as at,
  l.actor_type as "actorType", l.actor_id as "actorId", l.actor_email as "actorEmail", l.actor_name as "actorName", l.action,
  l.resource_type as "resourceType", l.resource_id as "resourceId", l.resource_name as "resourceName", l.details,
  l.ip_address as "ipAddress", l.user_agent as "userAgent", l.result, l.error_message as "errorMessage"`;

/** The entry after which a page starts, newest first. */
export interface Position {
  at: string;
  id: string;
}

/**
 * EntryRow-level security admits nothing else; repeating the reach here lets the index of each organization be used.
 * `orgIds` null means all.
 */
export interface Selection {
  orgIds: readonly string[] | null;
  /** The partner whose own rows, those without an organization, are included. */
  partnerId: string | null;
  conditions: string[];
  values: unknown[];
  /** The keys that contain all matches, when the names were resolved (names.ts): an access path, not a further condition. */
  places?: { column: string; at: readonly EntryKey[] };
}
/** The key of a name in an organization, or among the own actions of partners and the platform. */
export interface EntryKey {
  orgId: string | null;
  key: string;
}

/** Text anywhere in a column; % and _ in it are plain characters. */
export const like = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

const SEARCHED = ['l.action', 'l.actor_email', 'l.resource_type', 'l.resource_name', 'l.details::text'];

/** Comparing bytes is faster than characters, and equal for ASCII text. */
export const ilike = (column: string, text: string, placeholder: string) =>
  `${column}${/^[ -~]*$/.test(text) ? ' collate "C"' : ''} ilike ${placeholder}`;

/** Resolves no names; names.ts does. Callers limited to sites or groups select what they see. Throws 403 when a named organization is out of reach. */
export function select(ctx: Context, filter: AuditFilter & { actions?: readonly string[] }): Selection {
  const { scope } = ctx;
  const orgId = filter.orgId ?? scope.orgId;
  if (orgId) mustAccessOrg(ctx, orgId);
  const selection: Selection = {
    orgIds: orgId ? [orgId] : scope.orgIds,
    partnerId: orgId || scope.kind !== 'partner' ? null : scope.partnerId,
    conditions: [],
    values: [],
  };
  const seen = seenEntries(ctx, parameterOf(selection));
  if (seen) selection.conditions.push(seen);
  const { user, action, resource, from, to, q, actorId, actions } = filter;
  if (from) narrow(selection, (n) => `l.timestamp >= ${n}`, from);
  if (to) narrow(selection, (n) => `l.timestamp <= ${n}`, to);
  if (actorId) narrow(selection, (n) => `l.actor_id = ${n}`, actorId);
  if (actions) {
    // The key has the index; the text is the exact condition.
    narrow(
      selection,
      (n) => `l.action_key = any(array(select hashtextextended(a, 0) from unnest(${n}::text[]) a))
        and l.action = any(${n}::text[])`,
      actions,
    );
  }
  if (user) narrow(selection, (n) => `(l.actor_email ilike ${n} or l.actor_name ilike ${n})`, like(user));
  if (action) narrow(selection, (n) => `l.action ilike ${n}`, like(action));
  if (resource) narrow(selection, (n) => `(l.resource_type ilike ${n} or l.resource_name ilike ${n})`, like(resource));
  if (q) narrow(selection, (n) => `(${SEARCHED.map((column) => ilike(column, q, n)).join(' or ')})`, like(q));
  return selection;
}

export const parameterOf =
  ({ values }: Selection): AddParameter =>
  (value, type) =>
    `$${values.push(value)}::${type}`;

export function narrow(selection: Selection, condition: (placeholder: string) => string, value: unknown): void {
  selection.values.push(value);
  selection.conditions.push(condition(`$${selection.values.length}`));
}

/** `from … where …` over the whole selection, for counting; `values` are its parameters. */
export function whole(selection: Selection): { from: string; values: unknown[] } {
  const values = [...selection.values];
  const conditions = [...selection.conditions];
  const reach: string[] = [];
  if (selection.orgIds) {
    values.push(selection.orgIds);
    reach.push(
      selection.orgIds.length === 1
        ? `l.org_id = ($${values.length}::uuid[])[1]`
        : `l.org_id = any($${values.length}::uuid[])`,
    );
    if (selection.partnerId) {
      values.push(selection.partnerId);
      reach.push(`l.org_id is null and l.partner_id = $${values.length}`);
    }
    conditions.unshift(`(${reach.join(' or ')})`);
  }
  return { from: `from audit_logs l where ${['true', ...conditions].join(' and ')}`, values };
}

interface Wanted {
  limit: number;
  offset?: number;
  after?: Position;
  columns?: string;
}
interface Statement {
  text: string;
  values: unknown[];
}

/** Maximum number of rows read through keys: beyond that, a scan of the trail is as fast. */
const MOST_READ = 200_000;

/**
 * The newest `limit` entries after `offset` or after a position. For several organizations the newest of each are read through
 * its own index and merged, so the cost grows with the page and not with the trails.
 */
export function newest(selection: Selection, wanted: Wanted): Statement {
  const { limit, offset = 0, after, columns = COLUMNS } = wanted;
  const values = [...selection.values];
  const conditions = [...selection.conditions];
  if (after) {
    values.push(after.at, after.id);
    conditions.push(`(l.timestamp, l.id) < ($${values.length - 1}::text::timestamptz, $${values.length}::text::uuid)`);
  }
  const most = limit + offset;
  const taken = (place: string, count: number, what = columns) =>
    `select ${what} from audit_logs l where ${[place, ...conditions].join(' and ')} ${NEWEST} limit ${count}`;
  const { orgIds, partnerId, places } = selection;
  const merged = (parts: string[]) =>
    `select * from (${parts.join(' union all ')}) merged order by "timestamp" desc, id desc limit ${limit} offset ${offset}`;
  if (places && Math.min(places.at.length, most) * most <= MOST_READ) {
    return { text: merged(atPlaces(selection, places, { most, values, taken })), values };
  }
  if (orgIds === null) return { text: `${taken('true', limit)} offset ${offset}`, values };
  values.push(orgIds);
  const orgs = `$${values.length}::uuid[]`;
  if (orgIds.length === 1 && !partnerId)
    return { text: `${taken(`l.org_id = (${orgs})[1]`, limit)} offset ${offset}`, values };
  const parts = [
    `select each.* from unnest(${orgs}) o (id) cross join lateral (${taken('l.org_id = o.id', most)}) each`,
  ];
  if (partnerId) {
    values.push(partnerId);
    parts.push(`(${taken(`l.org_id is null and l.partner_id = $${values.length}`, most)})`);
  }
  return { text: merged(parts), values };
}

const NEWEST = 'order by l.timestamp desc, l.id desc';

interface Taking {
  most: number;
  values: unknown[];
  taken(place: string, count: number, what?: string): string;
}

/**
 * The newest entries of each key. Of many keys only as many matter as rows are needed: those with the newest rows, which are
 * found first, one row for each key.
 */
function atPlaces(
  { partnerId }: Selection,
  { column, at }: NonNullable<Selection['places']>,
  { most, values, taken }: Taking,
): string[] {
  const part = (list: string, names: string, place: string, count: number) => {
    const here = `${place} and l.${column} = p.key`;
    const first = taken(here, 1, 'l.timestamp, l.id');
    const some =
      count <= most
        ? `${list} p (${names})`
        : `(select p.* from ${list} p (${names}) cross join lateral (${first}) h
            order by h.timestamp desc, h.id desc limit ${most}) p`;
    return `select each.* from ${some} cross join lateral (${taken(here, most)}) each`;
  };
  const [inOrgs, own] = [at.filter(({ orgId }) => orgId !== null), at.filter(({ orgId }) => orgId === null)];
  values.push(
    inOrgs.map(({ orgId }) => orgId),
    inOrgs.map(({ key }) => key),
  );
  const list = `unnest($${values.length - 1}::uuid[], $${values.length}::bigint[])`;
  const parts = [part(list, 'org, key', 'l.org_id = p.org', inOrgs.length)];
  if (own.length > 0) {
    values.push(own.map(({ key }) => key));
    const keys = `unnest($${values.length}::bigint[])`;
    let place = 'l.org_id is null';
    if (partnerId) {
      values.push(partnerId);
      place += ` and l.partner_id = $${values.length}`;
    }
    parts.push(part(keys, 'key', place, own.length));
  }
  return parts;
}
