/** Deletes a decommissioned device and everything that belongs to it. */
import Joi from 'joi';
import { defineJob } from '#core';
import { purgeDevice } from '../services/life/purges.ts';

interface Payload {
  deviceId: string;
}
declare module '#core/contract' {
  interface Jobs {
    'devices/purge-device': Payload;
  }
}

export default defineJob<Payload>({
  summary: 'Deletes a decommissioned device and everything that belongs to it',
  scope: 'platform',
  payload: Joi.object<Payload, true>({ deviceId: Joi.string().uuid().required() }),
  maxAttempts: 10,
  run: (ctx, { deviceId }) => purgeDevice(ctx, deviceId),
});
