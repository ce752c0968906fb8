/** What a place is limited to: sites and device groups in an organization, organizations in a partner. */
import Joi from 'joi';
import type { Context } from '#core';

export type OrgAccess = 'all' | 'selected' | 'none';

/** As a request names them; null and absent mean all. */
export interface LimitFields {
  siteIds?: string[] | null;
  deviceGroupIds?: string[] | null;
  orgAccess?: OrgAccess;
  orgIds?: string[];
}
/** As a row holds them. Those of the other kind of tenant are null and empty. */
export interface Limits {
  siteIds: string[] | null;
  deviceGroupIds: string[] | null;
  orgAccess: OrgAccess | null;
  orgIds: string[];
}

/** Fills `users.device-groups`: knows which device groups there are. */
export interface DeviceGroupDirectory {
  /** Those of the ids that are no device group of this organization. Also asked on platform work. */
  missing(ctx: Context, orgId: string, ids: readonly string[]): Promise<string[]>;
}

const ids = Joi.array().items(Joi.string().uuid()).min(1).max(1000).unique();
export const limitFields = {
  siteIds: ids.allow(null).description('Organizations only: the sites reached; null for all'),
  deviceGroupIds: ids.allow(null).description('Organizations only: the device groups reached; null for all'),
  orgAccess: Joi.string().valid('all', 'selected', 'none').description('Partners only: the organizations reached'),
  orgIds: ids.description('Partners only: the organizations, when orgAccess is selected'),
};
