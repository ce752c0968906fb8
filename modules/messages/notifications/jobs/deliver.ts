/** Mails or pushes one notice, or one digest. */
import Joi from 'joi';
import { defineJob } from '#core';
import { deliver } from '../services/delivery/deliveries.ts';

interface Payload {
  deliveryId: string;
}
declare module '#core/contract' {
  interface Jobs {
    'notifications/deliver': Payload;
  }
}

export default defineJob<Payload>({
  summary: 'Mails or pushes a notice',
  scope: 'platform',
  payload: Joi.object<Payload>({ deliveryId: Joi.string().uuid().required() }),
  // What fails is tried again by its row, for hours.
  maxAttempts: 1,
  run: (ctx, { deliveryId }) => deliver(ctx, deliveryId),
});
