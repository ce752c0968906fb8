/** /devices: the list, one device, its changes, and its decommission. */
import Joi from 'joi';
import { defineRoute, deletedShape, wantsChanges } from '#core';
import { deviceDetail, deviceExported, deviceListed, deviceUpdate } from '../models/device.ts';
import { deviceListQuery } from '../models/device-query.ts';
import { readDevice } from '../services/device-details.ts';
import { updateDevice } from '../services/devices.ts';
import { decommission } from '../services/life/lifecycles.ts';
import { listDevices } from '../services/lists/device-list.ts';
import { followDevices } from '../services/lists/followed-devices.ts';

const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });
const changes = (item: Joi.Schema) =>
  Joi.object({
    data: Joi.array().items(item).required(),
    deleted: deletedShape.required(),
    pagination: Joi.object({ hasMore: Joi.boolean().required(), cursor: Joi.string().required() }).required(),
  });
const detail = Joi.object({ data: deviceDetail.required() });

export default [
  defineRoute({
    method: 'GET',
    path: '/devices',
    summary: 'Lists devices, in pages or with a cursor, or the changes since a time',
    access: { permission: 'devices:read' },
    query: deviceListQuery,
    response: Joi.alternatives(
      Joi.object({
        devices: Joi.array().items(deviceListed).required(),
        nextCursor: Joi.string().allow(null).required(),
        limit: Joi.number().integer().required(),
        total: Joi.number().integer(),
      }),
      Joi.object({
        data: Joi.array().items(deviceListed).required(),
        pagination: Joi.object({
          page: Joi.number().integer().required(),
          limit: Joi.number().integer().required(),
          total: Joi.number().integer().required(),
        }).required(),
      }),
      changes(deviceListed),
      changes(deviceExported),
    ),
    errors: [
      'CURSOR_EXPIRED',
      'FILTER_TOO_EXPENSIVE',
      'INVALID_CURSOR',
      'NOT_FOUND',
      'ORG_ACCESS_DENIED',
      'SITE_ACCESS_DENIED',
    ],
    handler: (ctx, { query }) => (wantsChanges(query) ? followDevices(ctx, query) : listDevices(ctx, query)),
  }),
  defineRoute({
    method: 'GET',
    path: '/devices/{id}',
    summary: 'Reads a device with its inventory and the metrics of the last 24 hours',
    access: { permission: 'devices:read' },
    params,
    response: detail,
    errors: ['NOT_FOUND'],
    handler: (ctx, { params: { id } }) => readDevice(ctx, id),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/devices/{id}',
    summary: 'Changes the name, site, tags or role of a device',
    access: { permission: 'devices:write' },
    audit: 'device.update',
    params,
    payload: deviceUpdate,
    response: detail,
    errors: ['NO_UPDATES', 'NOT_FOUND', 'SITE_ACCESS_DENIED'],
    async handler(ctx, { params: { id }, payload }) {
      await updateDevice(ctx, id, payload);
      return readDevice(ctx, id);
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/devices/{id}',
    summary: 'Decommissions a device, and queues the command that removes its agent',
    access: { permission: 'devices:delete', mfa: true },
    audit: 'device.delete',
    params,
    query: Joi.object<{ uninstall: boolean }>({
      uninstall: Joi.boolean().default(true).description('Whether the agent receives the command to remove itself'),
    }),
    response: Joi.object({ success: Joi.boolean().required(), uninstallCommandId: Joi.string().uuid() }),
    errors: ['NOT_FOUND', 'INVALID_STATE'],
    handler: (ctx, { params: { id }, query }) =>
      decommission(ctx, id, { mode: 'decommission', uninstall: query.uninstall }),
  }),
];
