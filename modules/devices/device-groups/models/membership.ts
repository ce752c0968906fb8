/** Devices in groups: how the API shows memberships, previews and the log of changes. */
import Joi from 'joi';
import { Model, named, type PageQuery } from '#core';

export type Reason =
  | 'manual'
  | 'filter_match'
  | 'filter_unmatch'
  | 'pinned'
  | 'unpinned'
  | 'excluded'
  | 'group_created'
  | 'group_deleted'
  | 'device_moved'
  | 'device_removed'
  | 'enrollment';
export const REASONS: readonly Reason[] = [
  ...(['manual', 'filter_match', 'filter_unmatch', 'pinned', 'unpinned', 'excluded', 'group_created'] as const),
  ...(['group_deleted', 'device_moved', 'device_removed', 'enrollment'] as const),
];

/** Append-only; keeps the names of groups and devices that no longer exist. */
export class MembershipChange extends Model {
  static override tableName = 'device_group_membership_log';
  static override deviceColumn = 'device_id';
  declare id: string;
  declare groupId: string;
  declare deviceId: string;
  declare groupName: string;
  declare hostname: string;
  declare action: 'added' | 'removed';
  declare reason: Reason;
  declare actorType: string;
  declare actorId: string | null;
  declare evaluationId: string | null;
  declare createdAt: Date;
}
export interface LogQuery extends PageQuery {
  deviceId?: string;
  action?: 'added' | 'removed';
  reason?: Reason;
  from?: Date;
  to?: Date;
}

const uuid = Joi.string().uuid();
const time = Joi.date().iso();
const ADDED_BY = ['manual', 'dynamic_rule', 'policy', 'enrollment'];
const membershipFields = {
  isPinned: Joi.boolean().required(),
  isExcluded: Joi.boolean().required(),
  addedAt: time.required(),
  addedBy: Joi.string()
    .valid(...ADDED_BY)
    .required(),
};
/** A device as GET /devices lists it, and its membership in the group. */
export const memberListed = named(
  'GroupMember',
  Joi.object({
    id: uuid.required(),
    hostname: Joi.string().required(),
    status: Joi.string().required(),
    ...membershipFields,
  }).unknown(),
);
export const membershipShape = named(
  'GroupMembership',
  Joi.object({
    groupId: uuid.required(),
    deviceId: uuid.required(),
    orgId: uuid.required(),
    ...membershipFields,
    addedByUserId: uuid.allow(null).required(),
    pinnedBy: uuid.allow(null).required(),
    pinnedAt: time.allow(null).required(),
    pinReason: Joi.string().allow(null, '').required(),
  }),
);
export const changeShape = named(
  'GroupMembershipChange',
  Joi.object({
    id: uuid.required(),
    groupId: uuid.required(),
    groupName: Joi.string().required(),
    deviceId: uuid.required(),
    hostname: Joi.string().required(),
    action: Joi.string().valid('added', 'removed').required(),
    reason: Joi.string()
      .valid(...REASONS)
      .required(),
    actorType: Joi.string().required(),
    actorId: uuid.allow(null).required(),
    evaluationId: uuid.allow(null).required(),
    createdAt: time.required(),
  }),
);
const count = Joi.number().integer().required();
export const previewShape = named(
  'GroupPreview',
  Joi.object({
    totalCount: count.description('Devices that match, including those beyond `limit`'),
    devices: Joi.array()
      .items(
        Joi.object({
          id: uuid.required(),
          hostname: Joi.string().required(),
          displayName: Joi.string().allow(null, '').required(),
          osType: Joi.string().required(),
          status: Joi.string().required(),
          lastSeenAt: time.allow(null).required(),
        }),
      )
      .required(),
    evaluatedAt: time.required(),
    diff: Joi.object({ toAdd: count, toRemove: count, pinned: count, excluded: count }).required(),
  }),
);
