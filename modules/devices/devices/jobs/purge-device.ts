/** Removes a device that nobody can bring back, with all that hangs below it. */
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
  summary: 'Removes a device that nobody can bring back, with all that hangs below it',
  scope: 'platform',
  payload: Joi.object<Payload, true>({ deviceId: Joi.string().uuid().required() }),
  maxAttempts: 10,
  run: (ctx, { deviceId }) => purgeDevice(ctx, deviceId),
});
