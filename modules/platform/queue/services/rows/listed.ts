/** Both list forms over names in memory: about a hundred tasks and schedules. */
import { encodeCursor, errors, type PageQuery } from '#core';
import { positionIn } from './cursors.ts';

export interface Listed<T> {
  data: T[];
  pagination: object;
}

/** @param all in the order of `nameOf`. Throws INVALID_CURSOR. */
export function listed<T>(
  all: readonly T[],
  { cursor, page = 1, limit }: PageQuery,
  order: string,
  nameOf: (item: T) => string,
): Listed<T> {
  if (cursor === undefined) {
    return { data: all.slice((page - 1) * limit, page * limit), pagination: { page, limit, total: all.length } };
  }
  const after = positionIn(order, cursor, ['name'])?.[0] ?? '';
  if (after !== '' && !all.some((item) => nameOf(item) === after)) throw errors.InvalidCursor();
  const rest = all.filter((item) => nameOf(item) > after);
  const data = rest.slice(0, limit);
  const last = data.at(-1);
  const next = rest.length > limit && last !== undefined ? encodeCursor(order, [nameOf(last)]) : null;
  return { data, pagination: { hasMore: next !== null, cursor: next } };
}
