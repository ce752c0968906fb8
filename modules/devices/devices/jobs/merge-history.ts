/** Moves the history of a merged device to the device that remains. */
import Joi from 'joi';
import { defineJob } from '#core';
import { mergeHistory } from '../services/life/merges.ts';

interface Payload {
  orgId: string;
  fromDeviceId: string;
  intoDeviceId: string;
}
declare module '#core/contract' {
  interface Jobs {
    'devices/merge-history': Payload;
  }
}

const uuid = Joi.string().uuid().required();

export default defineJob<Payload>({
  summary: 'Moves the history of a merged device to the device that remains',
  scope: 'platform',
  payload: Joi.object<Payload, true>({ orgId: uuid, fromDeviceId: uuid, intoDeviceId: uuid }),
  maxAttempts: 10,
  async run(ctx, payload) {
    const { orgId, fromDeviceId, intoDeviceId } = payload;
    const more = await mergeHistory(ctx, fromDeviceId, intoDeviceId);
    if (more) ctx.addJob('devices/merge-history', payload, { key: `devices-merge:${fromDeviceId}`, orgId });
  },
});
