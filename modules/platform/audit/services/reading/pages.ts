/** Pages of a selection, newest first, in both list forms. */
import { type Context, decodeCursor, encodeCursor } from '#core';
import type { AuditQuery } from '../../models/audit-log.ts';
import { selectByNames } from './names.ts';
import { type EntryRow, newest, type Position } from './selection.ts';
import { totalOf } from './totals.ts';

const ORDER = 'audit-newest';

export interface Paged {
  rows: EntryRow[];
  pagination: { page?: number; limit?: number; total?: number; hasMore?: boolean; cursor?: string | null };
}

/** Throws 403 when a named organization is out of reach, and INVALID_CURSOR. */
export async function pageOfEntries(ctx: Context, query: AuditQuery): Promise<Paged> {
  const selection = await selectByNames(ctx, query);
  const { limit, page = 1 } = query;
  if (query.cursor !== undefined) {
    const after = positionOf(query.cursor);
    const { text, values } = newest(selection, { limit: limit + 1, ...(after ? { after } : {}) });
    const { rows } = await ctx.sql<EntryRow>(text, values);
    const kept = rows.slice(0, limit);
    const last = kept.at(-1);
    const cursor = rows.length > limit && last ? encodeCursor(ORDER, [last.at, last.id]) : null;
    return { rows: kept, pagination: { hasMore: cursor !== null, cursor } };
  }
  const offset = (page - 1) * limit;
  const { text, values } = newest(selection, { limit, offset });
  const { rows } = await ctx.sql<EntryRow>(text, values);
  if (query.skipCount) return { rows, pagination: { page, limit } };
  // An incomplete page is the last one and gives the total, which saves a second search for rare matches.
  const ends = rows.length < limit && (rows.length > 0 || page === 1);
  const total = ends ? offset + rows.length : await totalOf(ctx, selection);
  return { rows, pagination: { page, limit, total } };
}

function positionOf(cursor: string): Position | null {
  if (cursor === '') return null;
  const [at, id] = decodeCursor(ORDER, cursor, 2);
  return { at: String(at), id: String(id) };
}
