/** What other modules may ask of devices about tags and lists: part of `ctx.use('devices')`. */
import type { PageQuery } from '#core';
import type { DeviceCondition } from './slot-shapes.ts';

export interface TagChange {
  /** In their stored form. */
  add: readonly string[];
  remove: readonly string[];
  /** What changed them, for the audit trail: `tags.bulk`. */
  source: string;
}
export interface TagOutcome {
  changed: number;
  unchanged: number;
  failed: { deviceId: string; code: 'NOT_FOUND' | 'DECOMMISSIONED' | 'TAG_LIMIT' }[];
}
export interface TagsApi {
  /** The stored form of any text, for questions: lower case, one space between words. */
  tagKey(text: string): string;
  /** The stored form of tags that somebody wants to write. Throws VALIDATION_ERROR with the place of each bad one. */
  checkedTags(given: readonly string[], path: string): string[];
  /** Of the devices that the caller sees; the others fail as NOT_FOUND. With audit and events. */
  changeTags(deviceIds: readonly string[], change: TagChange): Promise<TagOutcome>;
  /** On all devices of the organization, seen or not; both tags in their stored form. No audit, no events. */
  renameTag(orgId: string, from: string, to: string): Promise<number>;
}

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
export interface ListsApi {
  /**
   * What GET /devices lists, by host name, narrowed by a condition whose parameters begin at `$first`. Throws as that
   * route does.
   */
  listPage(
    query: DevicePageQuery,
    narrow: (first: number) => DeviceCondition | Promise<DeviceCondition>,
  ): Promise<DevicePage>;
}
