/** Changes of a device's lifecycle: restore, purge, quarantine, move to another organization, merge. */
import Joi from 'joi';
import { defineRoute } from '#core';
import { deviceDetail } from '../models/device.ts';
import { mergeOrder, moveRequest } from '../models/relocation.ts';
import { readDevice } from '../services/device-details.ts';
import { restore } from '../services/life/lifecycles.ts';
import { mergeDevice } from '../services/life/merges.ts';
import { moveDevice } from '../services/life/moves.ts';
import { requestPurge } from '../services/life/purges.ts';
import { approve, deny, quarantine } from '../services/life/quarantines.ts';

interface Path {
  id: string;
}
const params = Joi.object<Path>({ id: Joi.string().uuid().required() });
const detail = Joi.object({ data: deviceDetail.required() });
const removed = Joi.object({ success: Joi.boolean().required(), uninstallCommandId: Joi.string().uuid() });

export default [
  defineRoute({
    method: 'POST',
    path: '/devices/{id}/restore',
    summary: 'Restores a device that was decommissioned less than thirty days ago',
    access: { permission: 'devices:write' },
    audit: 'device.restore',
    params,
    response: detail,
    errors: ['NOT_FOUND', 'INVALID_STATE', 'RESTORE_TOO_LATE', 'DEVICE_LIMIT_REACHED'],
    work: { platform: 'the device limit of the partner counts in organizations that the caller may not reach' },
    async handler(ctx, { params: { id } }) {
      await restore(ctx, id);
      return readDevice(ctx, id);
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/devices/{id}/permanent',
    summary: 'Deletes a decommissioned device and its data permanently',
    access: { permission: 'devices:delete', mfa: true },
    audit: 'device.delete',
    params,
    // Optional here, so that an unknown device is 404 before a missing confirmation is 400: the service checks it.
    query: Joi.object<{ confirm?: string }>({
      confirm: Joi.string().max(255).description('The host name of the device; required for the deletion'),
    }),
    response: Joi.object({ success: Joi.boolean().required() }),
    status: 202,
    errors: ['NOT_FOUND', 'INVALID_STATE'],
    handler: (ctx, { params: { id }, query }) => requestPurge(ctx, id, query.confirm),
  }),
  defineRoute({
    method: 'POST',
    path: '/devices/{id}/quarantine',
    summary: 'Quarantines a device: its heartbeats are acknowledged, all other requests are rejected',
    access: { permission: 'devices:write', mfa: true },
    audit: 'device.quarantine',
    params,
    payload: Joi.object<{ reason: string }, true>({ reason: Joi.string().trim().min(1).max(255).required() }),
    response: detail,
    errors: ['NOT_FOUND', 'INVALID_STATE'],
    async handler(ctx, { params: { id }, payload }) {
      await quarantine(ctx, id, payload.reason);
      return readDevice(ctx, id);
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/devices/{id}/approve',
    summary: 'Ends the quarantine of a device',
    access: { permission: 'devices:write', mfa: true },
    audit: 'device.approve',
    params,
    response: detail,
    errors: ['NOT_FOUND', 'INVALID_STATE'],
    async handler(ctx, { params: { id } }) {
      await approve(ctx, id);
      return readDevice(ctx, id);
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/devices/{id}/deny',
    summary: 'Rejects a quarantined device and decommissions it',
    access: { permission: 'devices:write', mfa: true },
    audit: 'device.delete',
    params,
    response: removed,
    errors: ['NOT_FOUND', 'INVALID_STATE'],
    handler: (ctx, { params: { id } }) => deny(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: '/devices/{id}/move-org',
    summary: 'Moves a device to another organization of the same partner',
    access: { permission: 'devices:write', scopes: ['partner', 'system'], mfa: true },
    audit: 'device.move_org.target',
    params,
    payload: moveRequest,
    response: detail,
    errors: [
      ...['NOT_FOUND', 'SAME_ORG', 'ORG_ACCESS_DENIED', 'CROSS_PARTNER', 'INVALID_STATE', 'DEVICE_LIMIT_REACHED'],
    ],
    work: { platform: 'only the platform may give a row to another tenant' },
    async handler(ctx, { params: { id }, payload }) {
      await moveDevice(ctx, id, payload);
      return readDevice(ctx, id);
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/devices/{id}/merge',
    summary: 'Merges a device into another row of the same machine, and decommissions it',
    access: { permission: 'devices:write', mfa: true },
    audit: 'device.merge',
    params,
    payload: mergeOrder,
    response: detail,
    errors: ['NOT_FOUND', 'INVALID_STATE', 'DEVICE_ONLINE'],
    work: { platform: 'what other modules keep of both devices may lie out of reach of the caller' },
    async handler(ctx, { params: { id }, payload }) {
      await mergeDevice(ctx, id, payload.intoDeviceId);
      return readDevice(ctx, payload.intoDeviceId);
    },
  }),
];
