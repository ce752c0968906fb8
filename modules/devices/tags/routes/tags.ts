/** /tags: listing, renaming and removing tags. */
import Joi from 'joi';
import { defineRoute, pageOf } from '#core';
import {
  bulkChange,
  bulkOutcome,
  rename,
  renameAccepted,
  tagDevicesQuery,
  tagQuery,
  tagSummary,
} from '../models/tag-query.ts';
import { changeInBulk } from '../services/bulk-changes.ts';
import { requestRename } from '../services/renames.ts';
import { listTagged } from '../services/tagged-devices.ts';
import { listTags } from '../services/tags.ts';

const reach = ['NOT_FOUND', 'ORG_ACCESS_DENIED', 'SITE_ACCESS_DENIED', 'INVALID_CURSOR'];

export default [
  defineRoute({
    method: 'GET',
    path: '/tags',
    summary: 'Lists the tags of the devices that the caller sees',
    access: { permission: 'devices:read' },
    query: tagQuery,
    response: pageOf(tagSummary).keys({ total: Joi.number().integer().required() }),
    errors: reach,
    handler: (ctx, { query }) => listTags(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/tags/devices',
    summary: 'Lists the devices that have any or all of some tags',
    access: { permission: 'devices:read' },
    query: tagDevicesQuery,
    response: pageOf(Joi.object({ id: Joi.string().uuid().required() }).unknown()).keys({
      tag: Joi.string().required().description('The tags in their stored form, separated by commas'),
    }),
    errors: reach,
    handler: (ctx, { query }) => listTagged(ctx, query),
  }),
  defineRoute({
    method: 'POST',
    path: '/tags/bulk',
    summary: 'Adds tags to many devices, or removes them',
    access: { permission: 'devices:write' },
    audit: 'device.update',
    payload: bulkChange,
    response: bulkOutcome,
    errors: ['FILTER_TOO_EXPENSIVE', 'TOO_MANY_DEVICES'],
    handler: (ctx, { payload }) => changeInBulk(ctx, payload),
  }),
  defineRoute({
    method: 'POST',
    path: '/tags/rename',
    summary: 'Renames a tag in an organization, or merges it into another',
    access: { permission: 'devices:write' },
    audit: 'device.tags.rename',
    payload: rename,
    response: renameAccepted,
    status: 202,
    errors: ['ORG_REQUIRED', 'ORG_ACCESS_DENIED', 'TARGET_OUT_OF_SCOPE', 'NOT_FOUND'],
    handler: (ctx, { payload }) => requestRename(ctx, payload),
  }),
];
