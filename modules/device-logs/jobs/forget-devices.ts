/** Removes what purged devices have left in the tables in days. */
import Joi from 'joi';
import { defineJob } from '#core';
import { forgetDevices } from '../services/retention.ts';

declare module '#core/contract' {
  interface Jobs {
    'device-logs/forget-devices': { deviceIds: string[] };
  }
}

export default defineJob<{ deviceIds: string[] }>({
  name: 'device-logs/forget-devices',
  summary: 'Removes the logs of devices that are no more',
  scope: 'platform',
  payload: Joi.object({ deviceIds: Joi.array().items(Joi.string().uuid()).min(1).max(500).required() }),
  maxAttempts: 10,
  run: (ctx, { deviceIds }) => forgetDevices(ctx, deviceIds),
});
