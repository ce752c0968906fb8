/**
 * Following a list: first every row, then what has changed, page by page. A row is read as it is now, never as it was; what the
 * log of changes says is only which rows to read again. It is read up to the oldest transaction still open, so nothing that
 * commits later can lie behind a position: a long transaction makes changes late and loses none.
 */
import type { Context } from '../../context/index.ts';
import { CursorExpired, InvalidCursor, ValidationFailed } from '../../errors.ts';
import { askedDigest, decodePosition, encodePosition, reachDigest, type SyncPosition } from './cursor.ts';
import { BEGINNING, MAX_CHANGES, type TrackedQuery } from './tracked-query.ts';

export type Slice = { ids: readonly string[] } | { after: readonly string[]; limit: number };
export interface Tracked<R extends { id: string }> {
  /** As `track_changes` names it. */
  kind: string;
  /** What limits a caller to a part of an organization: nothing, its sites, or its sites and groups. */
  within: 'organization' | 'site' | 'device';
  /** True where changes are noted with the partner, as those of organizations themselves are. */
  ofPartner?: boolean;
  /** Whose changes are read; those of all organizations that the caller reaches when absent. */
  owners?: readonly string[] | null;
  /** Ids that give the order of the walk: unique together. */
  key(row: R): string[];
  keyWidth: number;
  /** Rows of the list as it was asked for: these, or those that come after in the order of the walk (from its beginning: []). */
  rows(slice: Slice): Promise<R[]>;
}
export interface ListChanges<T> {
  data: T[];
  deleted: { id: string; deletedAt: Date }[];
  pagination: { hasMore: boolean; cursor: string };
}
interface SyncState {
  cluster: string;
  upto: string;
  oldest: string | null;
  since_xid: string | null;
  unreached: string | null;
}
interface Entry {
  xid: string;
  id: string;
  at: Date;
  /** Whether the caller may be told that it is gone. */
  tells: boolean;
}

// Of each owner as much as a page may need, so that the index gives it in order; together that is never too little.
// reach: the last conditions are the sites and groups of the caller, given as $7 and $8
const ENTRIES = `
select e.xid::text as xid, e.id, max(e.at) as at, bool_or(e.tells) as tells
from unnest(coalesce($2::uuid[], array(select o.id from organizations o) || array(select p.id from partners p))) w (owner)
cross join lateral (
  select c.xid, c.id, max(c.at) as at,
    bool_or(($7::uuid[] is null or c.site_id = any($7)) and ($8::uuid[] is null or c.group_ids && $8)) as tells
  from sync_changes c
  where c.kind = $1 and c.owner = w.owner and (c.xid, c.id) > ($3::text::xid8, $4::uuid) and c.xid < $5::text::xid8
  group by c.xid, c.id order by c.xid, c.id limit $6) e
group by e.xid, e.id order by e.xid, e.id limit $6`;
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

async function syncStateOf(ctx: Context, query: TrackedQuery, ofPartner: boolean): Promise<SyncState> {
  const { scope } = ctx;
  const since = query.updatedSince && query.updatedSince !== BEGINNING ? new Date(query.updatedSince) : null;
  const { rows } = await ctx.sql<SyncState>(
    `select cluster, upto::text, oldest::text, since_xid::text, unreached
     from sync_state($1::timestamptz, $2::uuid, $3::uuid[], $4::boolean)`,
    [since, scope.partnerId, scope.orgIds ?? [], scope.allOrgs && !ofPartner],
    'sync-state',
  );
  const [state] = rows;
  if (!state) throw new Error('the database does not say where its changes stand');
  return state;
}

function beginningOf(
  query: TrackedQuery,
  list: Pick<Tracked<never>, 'kind' | 'keyWidth'>,
  state: SyncState,
  reach: string,
): SyncPosition {
  const asked = askedDigest(query);
  const known = { kind: list.kind, cluster: state.cluster, reach, asked };
  if (query.cursor) {
    if (query.updatedSince !== undefined) throw InvalidCursor('A cursor goes on by itself: leave updatedSince out');
    const position = decodePosition(query.cursor, list.kind, list.keyWidth);
    if (position.asked !== asked) throw InvalidCursor('The cursor belongs to this list with other filters');
    const lost = BigInt(position.from) < BigInt(state.oldest ?? 0) || BigInt(position.from) > BigInt(state.upto);
    if (position.cluster !== state.cluster || lost) {
      throw CursorExpired('What has changed since is not known any more: start again');
    }
    if (position.reach !== reach) throw CursorExpired('What the caller reaches has changed: start again');
    return position;
  }
  if (query.page !== undefined) {
    const message = '"updatedSince" gives no numbered pages: leave page out';
    throw ValidationFailed({ message, details: [{ in: 'query', path: 'page', message }] });
  }
  if (query.updatedSince === BEGINNING) return { ...known, from: state.upto, id: null, walk: [] };
  if (!state.since_xid) {
    throw CursorExpired(`Changes are not known from so long ago: start again with updatedSince=${BEGINNING}`);
  }
  return { ...known, from: state.since_xid, id: null, walk: null };
}

/** Throws CURSOR_EXPIRED where a copy can only be made anew, INVALID_CURSOR for a cursor of something else. */
export async function changesOfList<R extends { id: string }>(
  ctx: Context,
  query: TrackedQuery,
  list: Tracked<R>,
): Promise<ListChanges<R>> {
  const limit = Math.min(query.limit, MAX_CHANGES);
  const state = await syncStateOf(ctx, query, list.ofPartner === true);
  const position = beginningOf(query, list, state, reachDigest(ctx, state.unreached));
  const answer = (data: R[], deleted: ListChanges<R>['deleted'], hasMore: boolean, next: Partial<SyncPosition>) => ({
    data,
    deleted,
    pagination: { hasMore, cursor: encodePosition({ ...position, ...next }) },
  });
  if (position.walk) {
    const rows = await list.rows({ after: position.walk, limit: limit + 1 });
    const kept = rows.slice(0, limit);
    const last = kept.at(-1);
    if (rows.length > limit && last) return answer(kept, [], true, { walk: list.key(last) });
    // What changed since the walk began comes next.
    const changed = BigInt(position.from) < BigInt(state.upto);
    return answer(kept, [], changed, { walk: null });
  }
  const entries = await entriesAfter(ctx, list, position, state.upto, limit + 1);
  const kept = entries.slice(0, limit);
  const byId = new Map<string, Entry>();
  for (const entry of kept) byId.set(entry.id, { ...entry, tells: entry.tells || byId.get(entry.id)?.tells === true });
  const data = byId.size > 0 ? await list.rows({ ids: [...byId.keys()] }) : [];
  for (const { id } of data) byId.delete(id);
  const deleted = [...byId.values()].filter(({ tells }) => tells).map(({ id, at }) => ({ id, deletedAt: at }));
  const last = kept.at(-1);
  if (entries.length > limit && last) return answer(data, deleted, true, { from: last.xid, id: last.id });
  return answer(data, deleted, false, { from: state.upto, id: null });
}

async function entriesAfter(
  ctx: Context,
  { kind, within, ofPartner, owners }: Pick<Tracked<never>, 'kind' | 'within' | 'ofPartner' | 'owners'>,
  { from, id }: SyncPosition,
  upto: string,
  limit: number,
): Promise<Entry[]> {
  const { scope } = ctx;
  const reached = ofPartner ? (scope.partnerId ? [scope.partnerId] : null) : scope.orgIds;
  // A partner's user with selected organizations learns nothing of the others' ends.
  const noOwners: string[] | null = ofPartner && !scope.allOrgs ? [] : null;
  const { rows } = await ctx.sql<Entry>(
    ENTRIES,
    [
      ...[kind, owners ?? reached],
      // Within a transaction that was read in part, what comes behind; of one that was not, everything.
      ...(id ? [from, id] : [String(BigInt(from) - 1n), LAST_ID]),
      ...[upto, limit],
      ...[within === 'organization' ? noOwners : scope.siteIds, within === 'device' ? scope.groupIds : null],
    ],
    'sync-entries',
  );
  return rows;
}
