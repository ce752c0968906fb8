/** /groups/{id}/devices and /groups/{id}/preview: which devices are in a group, or would be. */
import Joi from 'joi';
import { defineRoute, pageOf, pageQuery, searchText } from '#core';
import { type ConditionTree, conditionTree } from '../models/condition-tree.ts';
import { memberListed, membershipShape, previewShape } from '../models/membership.ts';
import { previewGroup } from '../services/evaluating/previews.ts';
import { listMembers, type MemberQuery } from '../services/members/member-lists.ts';
import { type PinMode, pin, unpin } from '../services/members/pins.ts';
import { addDevices, removeDevice } from '../services/members/static-members.ts';

const id = Joi.string().uuid().required();
const params = Joi.object<{ id: string }>({ id });
const both = Joi.object<{ id: string; deviceId: string }>({ id, deviceId: id });
const count = Joi.number().integer().required();
const done = Joi.object({ success: Joi.boolean().required() });
const STATUSES = ['online', 'offline', 'maintenance', 'updating', 'pending', 'quarantined'];

export default [
  defineRoute({
    method: 'GET',
    path: '/groups/{id}/devices',
    summary: 'Lists the devices of a group by host name',
    access: { permission: 'devices:read' },
    params,
    query: Joi.object<MemberQuery>({
      ...pageQuery(100, 500),
      search: searchText(255, 2).description('Searches host name, display name, serial number and addresses'),
      status: Joi.array()
        .items(Joi.string().valid(...STATUSES))
        .single()
        .max(10)
        .description('Only devices in one of these states'),
      pinned: Joi.boolean().description(
        'true: pinned and excluded devices only; false: neither; absent: all members, without those excluded',
      ),
    }),
    response: pageOf(memberListed),
    errors: ['NOT_FOUND'],
    handler: (ctx, input) => listMembers(ctx, input.params.id, input.query),
  }),
  defineRoute({
    method: 'POST',
    path: '/groups/{id}/devices',
    summary: 'Adds devices to a static group, all of them or none',
    access: { permission: 'devices:write' },
    audit: 'device_group.device.add',
    params,
    payload: Joi.object<{ deviceIds: string[] }>({
      deviceIds: Joi.array().items(id).min(1).max(1000).unique().required(),
    }),
    response: Joi.object({ added: count, skipped: count, total: count }),
    errors: ['NOT_FOUND', 'DYNAMIC_GROUP'],
    handler: (ctx, input) => addDevices(ctx, input.params.id, input.payload.deviceIds),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/groups/{id}/devices/{deviceId}',
    summary: 'Removes a device from a static group',
    access: { permission: 'devices:write' },
    audit: 'device_group.device.remove',
    params: both,
    response: done,
    errors: ['NOT_FOUND', 'DYNAMIC_GROUP'],
    handler: (ctx, input) => removeDevice(ctx, input.params.id, input.params.deviceId),
  }),
  defineRoute({
    method: 'POST',
    path: '/groups/{id}/preview',
    summary: 'Previews what a filter matches, and what it would change in the group',
    access: { permission: 'devices:read' },
    audit: 'device_group.preview',
    params,
    payload: Joi.object<{ filter?: ConditionTree; limit: number }>({
      filter: conditionTree.description('A filter that is not saved yet; the stored filter when absent'),
      limit: pageQuery(10, 100).limit,
    })
      .empty(null)
      .default(),
    response: Joi.object({ data: previewShape.required() }),
    errors: ['NOT_FOUND', 'STATIC_GROUP', 'FILTER_RECURSION', 'FILTER_TOO_EXPENSIVE'],
    handler: (ctx, input) => previewGroup(ctx, input.params.id, input.payload),
  }),
  defineRoute({
    method: 'POST',
    path: '/groups/{id}/devices/{deviceId}/pin',
    summary: 'Keeps a device in a dynamic group or out of it, regardless of the filter',
    access: { permission: 'devices:write' },
    audit: 'device_group.device.pin',
    params: both,
    payload: Joi.object<{ reason?: string; mode: PinMode }>({
      reason: Joi.string()
        .trim()
        .max(255)
        .pattern(/^[^\0]*$/)
        .allow(''),
      mode: Joi.string().valid('include', 'exclude').default('include'),
    })
      .empty(null)
      .default(),
    response: Joi.object({ data: membershipShape.required() }),
    errors: ['NOT_FOUND', 'STATIC_GROUP', 'OUTSIDE_SITE', 'INVALID_STATE'],
    handler: async (ctx, { params: path, payload }) => ({ data: await pin(ctx, path.id, path.deviceId, payload) }),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/groups/{id}/devices/{deviceId}/pin',
    summary: 'Removes the exception: the filter decides about the device again',
    access: { permission: 'devices:write' },
    audit: 'device_group.device.unpin',
    params: both,
    response: Joi.object({ stillMember: Joi.boolean().required() }),
    errors: ['NOT_FOUND', 'STATIC_GROUP', 'FILTER_TOO_EXPENSIVE'],
    handler: (ctx, input) => unpin(ctx, input.params.id, input.params.deviceId),
  }),
];
