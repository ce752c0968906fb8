/** Pages of the device list for other modules: the same rows and the same reach, narrowed by a condition. */
import type { Context } from '#core';
import type { DevicesApi } from '../../api.ts';
import { listDevices } from './device-list.ts';

/** In page form unless the query has a `cursor`. */
export const listPage = async (
  ctx: Context,
  query: Parameters<DevicesApi['listPage']>[0],
  narrow: Parameters<DevicesApi['listPage']>[1],
): ReturnType<DevicesApi['listPage']> => {
  const form = query.cursor === undefined ? { page: query.page ?? 1 } : {};
  const fixed = { sort: 'hostname', sortDir: 'asc', includeDecommissioned: false, includeTotal: false } as const;
  const answer = await listDevices(ctx, { ...fixed, ...query, ...form }, narrow);
  if ('data' in answer) return answer;
  return { data: answer.devices, pagination: { hasMore: answer.nextCursor !== null, cursor: answer.nextCursor } };
};
