/** /groups: device groups, their filters and their members. */
import Joi from 'joi';
import { defineRoute, pageOf, pageQuery, searchText } from '#core';
import {
  type GroupQuery,
  groupChanged,
  groupCreate,
  groupDetail,
  groupListed,
  groupUpdate,
} from '../models/device-group.ts';
import { listGroups, readGroup } from '../services/group-lists.ts';
import { createGroup, updateGroup } from '../services/groups.ts';
import { deleteGroup } from '../services/removals.ts';

const id = Joi.string().uuid();
const params = Joi.object<{ id: string }>({ id: id.required() });

export default [
  defineRoute({
    method: 'GET',
    path: '/groups',
    summary: 'Lists device groups by name',
    access: { permission: 'devices:read' },
    query: Joi.object<GroupQuery>({
      ...pageQuery(100, 500),
      orgId: id,
      siteId: id,
      type: Joi.string().valid('static', 'dynamic').description('Only static groups, or only dynamic ones'),
      parentId: Joi.alternatives(id, Joi.string().valid('root')).description(
        'A group, or `root` for groups without a parent',
      ),
      search: searchText(255).description('Searches name and description'),
      includeMemberships: Joi.boolean().default(false).description('Adds the ids of the devices to each group'),
    }),
    response: pageOf(groupListed),
    errors: ['NOT_FOUND', 'ORG_ACCESS_DENIED', 'SITE_ACCESS_DENIED'],
    handler: (ctx, { query }) => listGroups(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/groups/{id}',
    summary: 'Reads a device group with its place in the tree and what refers to it',
    access: { permission: 'devices:read' },
    params,
    response: Joi.object({ data: groupDetail.required() }),
    errors: ['NOT_FOUND'],
    handler: (ctx, input) => readGroup(ctx, input.params.id),
  }),
  defineRoute({
    method: 'POST',
    path: '/groups',
    summary: 'Creates a static or dynamic device group',
    description: 'Returns 202 when the organization is so large that a job evaluates the filter.',
    access: { permission: 'devices:write' },
    audit: 'device_group.create',
    payload: groupCreate,
    response: groupChanged,
    answers: { 202: groupChanged },
    status: 201,
    errors: [
      ...['ORG_REQUIRED', 'FILTER_RECURSION', 'FILTER_TOO_EXPENSIVE', 'TARGET_OUT_OF_SCOPE', 'ORG_ACCESS_DENIED'],
      ...['SITE_ACCESS_DENIED', 'NOT_FOUND', 'NAME_TAKEN', 'GROUP_TREE_TOO_DEEP'],
    ],
    handler: (ctx, { payload }) => createGroup(ctx, payload),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/groups/{id}',
    summary: 'Changes a device group; a new filter applies at once',
    description: 'Returns 202 when the organization is so large that a job evaluates the filter.',
    access: { permission: 'devices:write' },
    audit: 'device_group.update',
    params,
    payload: groupUpdate,
    response: groupChanged,
    answers: { 202: groupChanged },
    errors: [
      ...['NO_UPDATES', 'STATIC_GROUP', 'FILTER_RECURSION', 'FILTER_TOO_EXPENSIVE', 'TARGET_OUT_OF_SCOPE'],
      ...['SITE_ACCESS_DENIED', 'NOT_FOUND', 'NAME_TAKEN', 'IN_USE', 'GROUP_TREE_TOO_DEEP', 'GROUP_TREE_CYCLE'],
    ],
    handler: (ctx, input) => updateGroup(ctx, input.params.id, input.payload),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/groups/{id}',
    summary: 'Deletes a device group',
    access: { permission: 'devices:delete' },
    audit: 'device_group.delete',
    params,
    query: Joi.object<{ force: boolean }>({
      force: Joi.boolean().default(false).description('Also removes the group from objects that refer to it'),
    }),
    response: Joi.object({ success: Joi.boolean().required() }),
    errors: ['NOT_FOUND', 'TARGET_OUT_OF_SCOPE', 'IN_USE'],
    handler: (ctx, input) => deleteGroup(ctx, input.params.id, input.query.force),
  }),
];
