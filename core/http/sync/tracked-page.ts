/** A list of one query builder, in pages or followed: what a service of a tracked list returns. */
import type { QueryBuilder } from 'objection';
import type { Context } from '../../context/index.ts';
import type { Model } from '../../database/model.ts';
import { page, type SortKey } from '../paging.ts';
import { changesOfList, type ListChanges, type Tracked } from './changes.ts';
import { type TrackedQuery, wantsChanges } from './tracked-query.ts';

export interface TrackedList extends Pick<Tracked<never>, 'kind' | 'within' | 'ofPartner' | 'owners'> {
  /** Columns of ids by which all rows are walked through: served by an index, unique together, the row's `id` the last. */
  walk: { column: string; field: string }[];
  /** Most rows of a page that is not asked for changes; 100 when absent. */
  maxLimit?: number;
}

/** `page()`, and with `updatedSince` the changes. */
export async function trackedPage<M extends Model & { id: string }, T = M>(
  ctx: Context,
  query: QueryBuilder<M, M[]>,
  paging: TrackedQuery,
  {
    order,
    list,
    show = (row) => row as unknown as T,
  }: {
    order: { name: string; keys: SortKey[] };
    list: TrackedList;
    show?: (row: M) => T;
  },
): Promise<{ data: T[]; pagination: object }> {
  if (!wantsChanges(paging)) {
    return page(query, { ...paging, limit: Math.min(paging.limit, list.maxLimit ?? 100) }, order, show);
  }
  const { data, ...rest }: ListChanges<M> = await changesOfList<M>(ctx, paging, {
    ...list,
    keyWidth: list.walk.length,
    key: (row) => list.walk.map(({ field }) => String((row as Record<string, unknown>)[field])),
    rows: async (slice) => {
      const rows = query.clone();
      const columns = list.walk.map(({ column }) => column);
      if ('ids' in slice) return rows.whereRaw('?? = any(?::uuid[])', [columns.at(-1) ?? 'id', slice.ids as string[]]);
      if (slice.after.length > 0) {
        rows.whereRaw(`(${columns.map(() => '??')}) > (${columns.map(() => '?::uuid')})`, [...columns, ...slice.after]);
      }
      for (const column of columns) rows.orderBy(column);
      return rows.limit(slice.limit);
    },
  });
  return { data: data.map(show), ...rest };
}
