/** Limits of a membership: sites and device groups in an organization, organizations in a partner. */
import Joi from 'joi';
import type { Context } from '#core';

export type OrgAccess = 'all' | 'selected' | 'none';

/** As in a request; for sites and groups null, an empty list and absent mean all. */
export interface LimitFields {
  siteIds?: string[] | null;
  deviceGroupIds?: string[] | null;
  orgAccess?: OrgAccess;
  orgIds?: string[];
}
/** As in a row. The fields of the other kind of tenant are null or empty. */
export interface Limits {
  siteIds: string[] | null;
  deviceGroupIds: string[] | null;
  orgAccess: OrgAccess | null;
  orgIds: string[];
}

/** The slot `users.device-groups`: the module that knows which device groups exist. */
export interface DeviceGroupDirectory {
  /** The ids that are not device groups of this organization. Also called on the platform's role. */
  missing(ctx: Context, orgId: string, ids: readonly string[]): Promise<string[]>;
}

const ids = Joi.array().items(Joi.string().uuid()).max(1000).unique();
export const limitFields = {
  siteIds: ids.allow(null).description('Organizations only: the sites the user reaches; null or an empty list for all'),
  deviceGroupIds: ids
    .allow(null)
    .description('Organizations only: the device groups the user reaches; null or an empty list for all'),
  orgAccess: Joi.string()
    .valid('all', 'selected', 'none')
    .description('Partners only: the organizations the user reaches'),
  orgIds: ids.description('Partners only: the organizations; at least one when orgAccess is selected, else none'),
};
