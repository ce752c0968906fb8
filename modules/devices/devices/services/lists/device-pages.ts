/** Lists that other modules make of devices: the same rows and the same reach, narrowed by a condition of theirs. */
import type { Context } from '#core';
import type { ListsApi } from '../../tagging.ts';
import { listDevices } from './device-list.ts';

/** In pages unless `cursor` is there. */
export const listPage = async (
  ctx: Context,
  query: Parameters<ListsApi['listPage']>[0],
  narrow: Parameters<ListsApi['listPage']>[1],
): ReturnType<ListsApi['listPage']> => {
  const form = query.cursor === undefined ? { page: query.page ?? 1 } : {};
  const fixed = { sort: 'hostname', sortDir: 'asc', includeDecommissioned: false, includeTotal: false } as const;
  const answer = await listDevices(ctx, { ...fixed, ...query, ...form }, narrow);
  if ('data' in answer) return answer;
  return { data: answer.devices, pagination: { hasMore: answer.nextCursor !== null, cursor: answer.nextCursor } };
};
