/** A group of devices: static (chosen one by one) or dynamic (defined by a filter). */
import Joi from 'joi';
import { Model, named, type PageQuery } from '#core';
import { type ConditionTree, conditionTree } from './condition-tree.ts';

export type GroupType = 'static' | 'dynamic';
export interface GroupChanges {
  name?: string;
  description?: string | null;
  siteId?: string | null;
  parentId?: string | null;
  filter?: ConditionTree;
  /** Allows a new site to remove members although users are limited to this group. */
  confirm?: boolean;
}
export interface GroupCreate {
  orgId?: string;
  name: string;
  type: GroupType;
  description?: string | null;
  siteId?: string | null;
  parentId?: string | null;
  filter?: ConditionTree;
  filterId?: string;
  deviceIds?: string[];
  copyFrom?: string;
}

// reach: groupsIn() limits groups, since one that is bound to no site is visible in all sites
export class DeviceGroup extends Model {
  static override tableName = 'device_groups';
  static override jsonAttributes = ['filter'];
  declare id: string;
  declare orgId: string;
  declare siteId: string | null;
  declare name: string;
  declare description: string | null;
  declare type: GroupType;
  declare parentId: string | null;
  declare filter: ConditionTree | null;
  declare filterId: string | null;
  declare filterFields: string[];
  declare evaluationMode: 'event' | 'periodic' | 'mixed' | null;
  declare evaluationStatus: 'ready' | 'evaluating' | 'error';
  declare lastEvaluatedAt: Date | null;
  declare lastEvaluationError: string | null;
  declare evaluationFailures: number;
  declare heldSince: Date | null;
  declare deviceCount: number;
  declare createdBy: string | null;
  declare createdAt: Date;
  declare updatedAt: Date;
}

const uuid = Joi.string().uuid();
const text = Joi.string()
  .normalize('NFC')
  .pattern(/^[^\0]*$/);
const name = text.trim().min(1).max(255);
const description = text.max(1000).allow(null, '');

export const groupCreate = named(
  'GroupCreate',
  Joi.object<GroupCreate, true>({
    orgId: uuid.description('Required for partner and system callers; organization callers always use their own'),
    name: name.required(),
    type: Joi.string().valid('static', 'dynamic').required(),
    description,
    siteId: uuid.allow(null).description('Only devices of this site can be members'),
    parentId: uuid.allow(null),
    filter: conditionTree,
    filterId: uuid.description(
      'A saved filter of the organization; it is copied, later changes of it are not followed',
    ),
    deviceIds: Joi.array().items(uuid).max(5000).unique().description('Static groups only'),
    copyFrom: uuid.description('Static groups only: a group whose current members are copied'),
  })
    .oxor('filter', 'filterId')
    .oxor('deviceIds', 'copyFrom'),
);
export const groupUpdate = named(
  'GroupUpdate',
  Joi.object<GroupChanges, true>({
    name,
    description,
    siteId: uuid.allow(null),
    parentId: uuid.allow(null),
    filter: conditionTree,
    confirm: Joi.boolean().description('Allows a new site to remove members although users are limited to this group'),
  }),
);

export interface GroupQuery extends PageQuery {
  orgId?: string;
  siteId?: string;
  type?: GroupType;
  parentId?: string;
  search?: string;
  includeMemberships: boolean;
}

const time = Joi.date().iso();
const short = { id: uuid.required(), name: Joi.string().required() };
const shape = {
  ...short,
  orgId: uuid.required(),
  siteId: uuid.allow(null).required(),
  description: Joi.string().allow(null, '').required(),
  type: Joi.string().valid('static', 'dynamic').required(),
  parentId: uuid.allow(null).required(),
  filter: Joi.object().unknown().allow(null).required(),
  filterId: uuid.allow(null).required(),
  filterFields: Joi.array().items(Joi.string()).required(),
  evaluationMode: Joi.string().valid('event', 'periodic', 'mixed').allow(null).required(),
  evaluationStatus: Joi.string().valid('ready', 'evaluating', 'error').required(),
  lastEvaluatedAt: time.allow(null).required(),
  lastEvaluationError: Joi.string().allow(null).required(),
  deviceCount: Joi.number().integer().required().description('Members that the caller sees'),
  isAccessRestricting: Joi.boolean().required().description('Users are limited to this group'),
  createdBy: uuid.allow(null).required(),
  createdAt: time.required(),
  updatedAt: time.required(),
};
export const groupShape = named('Group', Joi.object(shape));
export const groupListed = named(
  'GroupListed',
  Joi.object({
    ...shape,
    deviceIds: Joi.array().items(uuid).max(1000).description('With includeMemberships: the first 1000 members'),
  }),
);
const count = Joi.number().integer().required();
export const groupDetail = named(
  'GroupDetail',
  Joi.object({
    ...shape,
    ancestors: Joi.array().items(Joi.object(short)).required().description('From the root down to the parent'),
    children: Joi.array()
      .items(Joi.object({ ...short, type: Joi.string().required(), deviceCount: count }))
      .required(),
    usedBy: Joi.object({
      policies: count,
      alertRules: count,
      automations: count,
      maintenanceWindows: count,
      deployments: count,
      users: count,
    }).required(),
  }),
);
export const groupChanged = named(
  'GroupChanged',
  Joi.object({
    data: groupShape.required(),
    evaluation: Joi.object({ added: Joi.number().integer().required(), removed: Joi.number().integer() }).required(),
  }),
);
