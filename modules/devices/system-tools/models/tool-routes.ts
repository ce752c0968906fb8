/** What the routes of all live tools have in common: the path, who may call, the refusals, and lists that a device cuts. */
import Joi from 'joi';
import type { Paged } from '#agent-protocol';
import { decodeCursor, encodeCursor, errors, type PageQuery } from '#core';

export const deviceId = Joi.string().uuid().required();
export const onDevice = Joi.object<{ deviceId: string }>({ deviceId });

/** Whoever may see devices may look; a key that may act may look too. */
export const looking = { permission: 'devices:read', keyScope: 'devices:execute', mfa: true };
export const acting = { permission: 'devices:execute', mfa: true };

export const lookErrors = [
  ...['NOT_FOUND', 'TOOL_NOT_ALLOWED', 'UNSUPPORTED_OS', 'INVALID_STATE', 'DEVICE_UNREACHABLE', 'DEVICE_BUSY'],
  ...['RATE_LIMITED', 'DEVICE_DENIED', 'DEVICE_CONFLICT', 'DEVICE_ERROR', 'DEVICE_BAD_RESPONSE', 'DEVICE_TIMEOUT'],
];
export const actErrors = [...lookErrors, 'RESULT_ERASED', 'IDEMPOTENCY_MISMATCH'];

export const toolPagination = Joi.object({
  page: Joi.number().integer(),
  limit: Joi.number().integer(),
  total: Joi.number().integer().allow(null),
  hasMore: Joi.boolean(),
  cursor: Joi.string().allow(null),
});
/** The answer of a list that the device has cut, in either form of a list. */
export const listOf = (item: Joi.Schema) =>
  Joi.object({
    data: Joi.array().items(item).required(),
    pagination: toolPagination.required(),
  });
export const allOf = (item: Joi.Schema) => Joi.object({ data: Joi.array().items(item).required() });
export const oneOf = (item: Joi.Schema) => Joi.object({ data: item.required() });

/** Which page is meant; throws INVALID_CURSOR. A device has no positions but its pages. */
export function pageAsked(order: string, { page = 1, limit, cursor }: PageQuery): { page: number; limit: number } {
  if (!cursor) return { page, limit };
  const [given] = decodeCursor(order, cursor, 1);
  const number = Number(given);
  if (!Number.isSafeInteger(number) || number < 1) throw errors.InvalidCursor();
  return { page: number, limit };
}

export function listAnswer<T>(order: string, query: PageQuery, { items, total }: Paged<T>) {
  const { page, limit } = pageAsked(order, query);
  if (query.cursor === undefined) return { data: items, pagination: { page, limit, total } };
  const hasMore = total === null ? items.length === limit : page * limit < total;
  return { data: items, pagination: { hasMore, cursor: hasMore ? encodeCursor(order, [page + 1]) : null } };
}
