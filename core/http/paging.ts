/** Both list forms: pages, and cursors (opaque position of the last row). */
import Joi from 'joi';
import type { QueryBuilder } from 'objection';
import { isDataException } from '../database/errors.ts';
import type { Model } from '../database/model.ts';
import { InvalidCursor } from '../errors.ts';

export interface PageQuery {
  page?: number;
  limit: number;
  cursor?: string;
}

/** Of a number that is brought within its bounds instead of being refused. */
export interface ClampMeta {
  clamped: true;
}

const clamp = (low: number, high: number) => (value: number) => Math.min(high, Math.max(low, value));

/** Query fields of every list: values outside the limits are clamped, not refused. */
export function pageQuery(defaultLimit = 50, maxLimit = 100) {
  return {
    page: Joi.number()
      .unsafe()
      .integer()
      .custom(clamp(1, 1_000_000))
      .description('Page number from 1; not together with cursor'),
    limit: Joi.number()
      .unsafe()
      .integer()
      .custom(clamp(1, maxLimit))
      .default(defaultLimit)
      .meta({ clamped: true } satisfies ClampMeta)
      .description(`Rows a page, 1 to ${maxLimit}; values outside are clamped`),
    cursor: Joi.string()
      .allow('')
      .max(1000)
      .description('Position given by the page before, empty for the first; the answer then has the cursor form'),
  };
}

/** Where in a list an answer stands, in either form. */
export const pagination = Joi.object({
  page: Joi.number().integer(),
  limit: Joi.number().integer(),
  total: Joi.number().integer(),
  hasMore: Joi.boolean(),
  cursor: Joi.string().allow(null),
});

/** The answer of a list, in either form. */
export function pageOf(item: Joi.Schema) {
  return Joi.object({
    data: Joi.array().items(item).required(),
    pagination: pagination.required(),
  });
}

export interface SortKey {
  /** SQL expression over the table; never from the caller. */
  expression: string;
  direction: 'asc' | 'desc';
  /** PostgreSQL type that the value in a cursor is read as. */
  type: 'text' | 'timestamptz' | 'uuid' | 'bigint' | 'xid8';
}

/** Encodes the sort values of the last row together with the name of the order they belong to. */
export function encodeCursor(order: string, values: readonly unknown[]): string {
  const plain = values.map((value) => (value instanceof Date ? value.toISOString() : value));
  return Buffer.from(JSON.stringify([order, ...plain])).toString('base64url');
}

/** Texts that the database would refuse, or read as another one. */
const isNoText = (value: unknown) => typeof value === 'string' && (!value.isWellFormed() || value.includes('\0'));

/** Throws INVALID_CURSOR for anything this list did not issue. */
export function decodeCursor(order: string, cursor: string, count: number): (string | number | null)[] {
  try {
    const [name, ...values] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as (
      | string
      | number
      | null
    )[];
    if (name === order && values.length === count && !values.some(isNoText)) return values;
  } catch {
    // falls through: not one of ours
  }
  throw InvalidCursor();
}

/**
 * Runs a list in the form the caller asked for: `cursor` present (even empty) gives the cursor form, else pages with an
 * exact total. The last sort key must be unique, so that the order is stable. All keys have one direction: a cursor compares
 * them as one row.
 */
export async function page<M extends Model, T = M>(
  query: QueryBuilder<M, M[]>,
  paging: PageQuery,
  order: { name: string; keys: SortKey[] },
  show: (row: M) => T = (row) => row as unknown as T,
): Promise<{ data: T[]; pagination: object }> {
  const { limit } = paging;
  const [{ direction } = { direction: 'asc' }] = order.keys;
  if (order.keys.some((key) => key.direction !== direction))
    throw new Error(`The order ${order.name} has two directions`);
  const marked = order.keys.map((key, index) => `${sortText(key)} as "sort${index}"`);
  if (paging.cursor === undefined) {
    const number = paging.page ?? 1;
    const total = await query.clone().clearSelect().clearOrder().resultSize();
    for (const key of order.keys) query.orderByRaw(`${key.expression} ${key.direction}`);
    const rows = await query.limit(limit).offset((number - 1) * limit);
    return { data: rows.map(show), pagination: { page: number, limit, total } };
  }
  if (paging.cursor !== '') {
    const values = decodeCursor(order.name, paging.cursor, order.keys.length);
    if (order.keys.some(({ type }, index) => type === 'text' && typeof values[index] !== 'string'))
      throw InvalidCursor();
    const sign = direction === 'desc' ? '<' : '>';
    const left = order.keys.map((key) => key.expression).join(', ');
    const right = order.keys.map((key) => `?::text::${key.type}`).join(', ');
    query.whereRaw(`(${left}) ${sign} (${right})`, values as string[]);
  }
  for (const key of order.keys) query.orderByRaw(`${key.expression} ${key.direction}`);
  if (!query.hasSelects()) query.select(`${query.modelClass().tableName}.*`);
  const rows = await query
    .select(query.modelClass().raw(marked.join(', ')))
    .limit(limit + 1)
    .catch((error: unknown) => {
      // Of all values only those in a forged cursor have not been checked.
      throw paging.cursor && isDataException(error) ? InvalidCursor() : error;
    });
  const hasMore = rows.length > limit;
  const kept = rows.slice(0, limit) as (M & Record<string, unknown>)[];
  const last = kept.at(-1);
  const cursor =
    hasMore && last
      ? encodeCursor(
          order.name,
          order.keys.map((_, index) => last[`sort${index}`]),
        )
      : null;
  for (const row of kept) for (const index of order.keys.keys()) delete row[`sort${index}`];
  return { data: kept.map(show), pagination: { hasMore, cursor } };
}

/** Times keep their microseconds in a cursor; a JavaScript date would lose rows that share a millisecond. */
function sortText(key: SortKey): string {
  return key.type === 'timestamptz' ? `(${key.expression})::text` : key.expression;
}
