/** The cursor form of both lists: newest first, by time and id. */
import { type Context, decodeCursor, encodeCursor, errors } from '#core';

/** The maximum by which a stored time can be ahead of its arrival, as an interval of the database; see clocks.ts. */
export const EARLY = '10 minutes';

const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?[+-]\d\d(:\d\d)?$/;
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export interface CursorQuery {
  order: string;
  cursor: string;
  limit: number;
  values: readonly unknown[];
  /** The statement; `after` returns the condition for rows after the cursor, given the column of the time. */
  select(after: (time: string) => string, most: number): string;
}

/** Throws INVALID_CURSOR for a cursor of another list. */
export async function cursorForm(ctx: Context, { order, cursor, limit, values, select }: CursorQuery) {
  const position = cursor === '' ? [] : decodeCursor(order, cursor, 2).map(String);
  const [time, id] = position;
  if (time !== undefined && !(TIME.test(time) && ID.test(id ?? ''))) throw errors.InvalidCursor();
  const at = values.length;
  const after = (column: string) =>
    position.length > 0 ? `and (${column}, id) < ($${at + 1}::timestamptz, $${at + 2}::uuid)` : '';
  const { rows } = await ctx.sql<{ id: string; sort?: string }>(select(after, limit + 1), [...values, ...position]);
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  const next = rows.length > limit && last ? encodeCursor(order, [last.sort, last.id]) : null;
  for (const row of data) delete row.sort;
  return { data, pagination: { hasMore: next !== null, cursor: next } };
}
