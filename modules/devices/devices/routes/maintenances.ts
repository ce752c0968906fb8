/** /devices/{id}/maintenance: maintenance mode of one device. */
import Joi from 'joi';
import { defineRoute } from '#core';
import { deviceDetail } from '../models/device.ts';
import { maintenanceRequest } from '../models/maintenance-mode.ts';
import { readDevice } from '../services/device-details.ts';
import { endMaintenance, startMaintenance } from '../services/life/maintenance-modes.ts';

interface Path {
  id: string;
}
const params = Joi.object<Path>({ id: Joi.string().uuid().required() });
const detail = Joi.object({ data: deviceDetail.required() });

export default [
  defineRoute({
    method: 'POST',
    path: '/devices/{id}/maintenance',
    summary: 'Starts the maintenance of a device or changes its end; it ends by itself',
    access: { permission: 'devices:write' },
    audit: 'device.maintenance.start',
    params,
    payload: maintenanceRequest,
    response: detail,
    errors: ['NOT_FOUND', 'INVALID_STATE'],
    async handler(ctx, { params: { id }, payload }) {
      await startMaintenance(ctx, id, payload);
      return readDevice(ctx, id);
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/devices/{id}/maintenance',
    summary: 'Ends the maintenance of a device early',
    access: { permission: 'devices:write' },
    audit: 'device.maintenance.end',
    params,
    response: detail,
    errors: ['NOT_FOUND', 'INVALID_STATE'],
    async handler(ctx, { params: { id } }) {
      await endMaintenance(ctx, id);
      return readDevice(ctx, id);
    },
  }),
];
