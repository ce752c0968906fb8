/** Sends one message to its channel. */
import Joi from 'joi';
import { defineJob } from '#core';
import { deliver } from '../services/sending/deliveries.ts';

interface Payload {
  messageId: string;
}
declare module '#core/contract' {
  interface Jobs {
    'alert-channels/deliver': Payload;
  }
}

export default defineJob<Payload>({
  summary: 'Sends a message about an alert to a channel',
  scope: 'platform',
  payload: Joi.object<Payload>({ messageId: Joi.string().uuid().required() }),
  // What fails is tried again by its row.
  maxAttempts: 1,
  run: (ctx, { messageId }) => deliver(ctx, messageId),
});
