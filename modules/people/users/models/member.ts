/** A member of a tenant or an invited person: both are in one list. */
import Joi from 'joi';
import { Model, named, type TrackedQuery } from '#core';
import { type NamedTenant, namedTenant, personName } from './invitation.ts';
import { type LimitFields, type Limits, limitFields, type OrgAccess } from './limits.ts';

export type UserStatus = 'active' | 'invited' | 'disabled';
export const STATUSES: UserStatus[] = ['active', 'invited', 'disabled'];

/** Not a table: services/members.ts defines the query that returns these rows. */
export class Member extends Model implements Limits {
  static override tableName = 'members';
  static override partnerOwned = true;
  /** The id of the user or of the invitation. */
  declare id: string;
  declare orgId: string | null;
  declare partnerId: string | null;
  declare email: string;
  declare name: string;
  declare status: UserStatus;
  declare roleId: string;
  declare roleName: string | null;
  declare mfaEnabled: boolean;
  declare avatarUrl: string | null;
  declare lastLoginAt: Date | null;
  declare createdAt: Date;
  declare siteIds: string[] | null;
  declare deviceGroupIds: string[] | null;
  declare orgAccess: OrgAccess | null;
  declare orgIds: string[];
  /** Null for a member. */
  declare invitationExpiresAt: Date | null;
}

export interface MemberQuery extends TrackedQuery, NamedTenant {
  status?: UserStatus;
  search?: string;
  roleId?: string;
}
export interface MemberUpdate extends NamedTenant, LimitFields {
  name?: string;
  status?: 'active' | 'disabled';
}
export interface RoleAssignment extends NamedTenant {
  roleId: string;
}

const limited = (ids: string[] | null) => (ids && ids.length > 0 ? ids : null);

/** The response: limits of the tenant's own kind only. */
export function showMember({ invitationExpiresAt, ...row }: Member) {
  const { orgId, partnerId, siteIds, deviceGroupIds, orgAccess, orgIds, roleName, ...member } = row;
  return {
    ...member,
    roleName: roleName ?? '',
    ...(partnerId ? { orgAccess, orgIds } : {}),
    ...(orgId ? { siteIds: limited(siteIds), deviceGroupIds: limited(deviceGroupIds) } : {}),
    ...(invitationExpiresAt ? { invitationExpiresAt } : {}),
  };
}

export const memberUpdate = named(
  'UserUpdate',
  Joi.object<MemberUpdate, true>({
    name: personName,
    status: Joi.string().valid('active', 'disabled'),
    ...namedTenant,
    ...limitFields,
  }),
);
export const roleAssignment = named(
  'RoleAssignment',
  Joi.object<RoleAssignment, true>({
    roleId: Joi.string().uuid().required(),
    ...namedTenant,
  }),
);

const ids = Joi.array().items(Joi.string().uuid());
export const memberShape = named(
  'User',
  Joi.object({
    id: Joi.string()
      .uuid()
      .required()
      .description('The id of the user, or of the invitation while the status is invited'),
    email: Joi.string().required(),
    name: Joi.string().required(),
    status: Joi.string()
      .valid(...STATUSES)
      .required(),
    roleId: Joi.string().uuid().required(),
    roleName: Joi.string().allow('').required(),
    mfaEnabled: Joi.boolean().required(),
    avatarUrl: Joi.string().allow(null).required(),
    lastLoginAt: Joi.date().iso().allow(null).required(),
    createdAt: Joi.date().iso().required(),
    siteIds: ids.allow(null).description('In an organization; null for all sites'),
    deviceGroupIds: ids.allow(null).description('In an organization; null for all device groups'),
    orgAccess: Joi.string().valid('all', 'selected', 'none').description('In a partner'),
    orgIds: ids.description('In a partner'),
    invitationExpiresAt: Joi.date().iso().description('While the status is invited'),
  }),
);
export const assignableShape = named(
  'AssignableRole',
  Joi.object({
    id: Joi.string().uuid().required(),
    name: Joi.string().required(),
    description: Joi.string().allow(null).required(),
    scope: Joi.string().valid('partner', 'organization').required(),
    isSystem: Joi.boolean().required(),
    forceMfa: Joi.boolean().required(),
    parentRoleId: Joi.string().uuid().allow(null).required(),
  }),
);
