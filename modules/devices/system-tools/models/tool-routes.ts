/** What the routes of all live tools share: path, access, errors, and lists in pages of the device. */
import Joi from 'joi';
import type { Paged } from '#agent-protocol';
import { decodeCursor, encodeCursor, errors, named, type PageQuery } from '#core';

export const deviceId = Joi.string().uuid().required();
export const onDevice = Joi.object<{ deviceId: string }>({ deviceId });

/** Reading requires devices:read; an API key with devices:execute may read too. */
export const readAccess = { permission: 'devices:read', keyScope: 'devices:execute', mfa: true };
export const changeAccess = { permission: 'devices:execute', mfa: true };

export const readErrors = [
  ...['NOT_FOUND', 'TOOL_NOT_ALLOWED', 'UNSUPPORTED_OS', 'INVALID_STATE', 'DEVICE_UNREACHABLE', 'DEVICE_BUSY'],
  ...['RATE_LIMITED', 'DEVICE_DENIED', 'DEVICE_CONFLICT', 'DEVICE_ERROR', 'DEVICE_BAD_RESPONSE', 'DEVICE_TIMEOUT'],
];
export const changeErrors = [...readErrors, 'RESULT_ERASED', 'IDEMPOTENCY_MISMATCH'];

export const toolPagination = named(
  'ToolPagination',
  Joi.object({
    page: Joi.number().integer(),
    limit: Joi.number().integer(),
    total: Joi.number().integer().allow(null),
    hasMore: Joi.boolean(),
    cursor: Joi.string().allow(null),
  }),
);
/** The answer of a list in pages of the device. */
export const listOf = (item: Joi.Schema) =>
  Joi.object({
    data: Joi.array().items(item).required(),
    pagination: toolPagination.required(),
  });
export const allOf = (item: Joi.Schema) => Joi.object({ data: Joi.array().items(item).required() });
export const oneOf = (item: Joi.Schema) => Joi.object({ data: item.required() });

/** The requested page; throws INVALID_CURSOR. A cursor holds the number of a page, since devices have no other positions. */
export function requestedPage(order: string, { page = 1, limit, cursor }: PageQuery): { page: number; limit: number } {
  if (!cursor) return { page, limit };
  const [given] = decodeCursor(order, cursor, 1);
  const number = Number(given);
  if (!Number.isSafeInteger(number) || number < 1) throw errors.InvalidCursor();
  return { page: number, limit };
}

export function listAnswer<T>(order: string, query: PageQuery, { items, total }: Paged<T>) {
  const { page, limit } = requestedPage(order, query);
  if (query.cursor === undefined) return { data: items, pagination: { page, limit, total } };
  const hasMore = total === null ? items.length === limit : page * limit < total;
  return { data: items, pagination: { hasMore, cursor: hasMore ? encodeCursor(order, [page + 1]) : null } };
}
