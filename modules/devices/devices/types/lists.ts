/** Changes of tags, and pages of the device list, as other modules ask for them. */
import type { PageQuery } from '#core';

export interface TagChange {
  /** In their stored form. */
  add: readonly string[];
  remove: readonly string[];
  /** The feature that changed them, for the audit trail, such as `tags.bulk`. */
  source: string;
}
export interface TagOutcome {
  changed: number;
  unchanged: number;
  failed: { deviceId: string; code: 'NOT_FOUND' | 'DECOMMISSIONED' | 'TAG_LIMIT' }[];
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
