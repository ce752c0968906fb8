/** Pages of the device list for other modules: the same rows and the same reach, narrowed by a condition. */
import type { Context, PageQuery } from '#core';
import { listDevices, type Narrow } from './device-list.ts';

export interface DevicePageQuery extends PageQuery {
  orgIds?: string[];
  siteIds?: string[];
  search?: string;
  status?: string[];
}

export interface DevicePage {
  data: ({ id: string } & Record<string, unknown>)[];
  pagination: { page: number; limit: number; total: number } | { hasMore: boolean; cursor: string | null };
}

/**
 * A page of GET /devices by host name, narrowed by a condition whose parameters begin at `$first`. In page form unless the query
 * has a `cursor`. Throws the errors of that route.
 */
export const listPage = async (ctx: Context, query: DevicePageQuery, narrow: Narrow): Promise<DevicePage> => {
  const form = query.cursor === undefined ? { page: query.page ?? 1 } : {};
  const fixed = { sort: 'hostname', sortDir: 'asc', includeDecommissioned: false, includeTotal: false } as const;
  const answer = await listDevices(ctx, { ...fixed, ...query, ...form }, narrow);
  if ('data' in answer) return answer;
  return { data: answer.devices, pagination: { hasMore: answer.nextCursor !== null, cursor: answer.nextCursor } };
};
