/** /devices/{id}/auto-update. */
import Joi from 'joi';
import { defineRoute } from '#core';
import { setAutoUpdate } from '../services/auto-updates.ts';

export default [
  defineRoute({
    method: 'POST',
    path: '/devices/{id}/auto-update',
    summary: 'Switches the automatic updates of the agent on or off',
    access: { permission: 'devices:write' },
    audit: 'device.auto_update.set',
    params: Joi.object<{ id: string }>({ id: Joi.string().uuid().required() }),
    payload: Joi.object<{ enabled: boolean }>({ enabled: Joi.boolean().required() }),
    response: Joi.object({
      deviceId: Joi.string().uuid().required(),
      enabled: Joi.boolean().required(),
      confirmed: Joi.boolean().required(),
    }),
    errors: ['NOT_FOUND', 'INVALID_STATE'],
    handler: (ctx, { params: { id }, payload }) => setAutoUpdate(ctx, id, payload.enabled),
  }),
];
