/** Tells one event to everybody whom it concerns. */
import Joi from 'joi';
import { defineJob } from '#core';
import { fanOut } from '../services/fan-out/fan-outs.ts';

interface Payload {
  eventId: string;
}
declare module '#core/contract' {
  interface Jobs {
    'notifications/fan-out': Payload;
  }
}

export default defineJob<Payload>({
  summary: 'Tells an event to everybody whom it concerns',
  scope: 'platform',
  payload: Joi.object<Payload>({ eventId: Joi.string().uuid().required() }),
  maxAttempts: 6,
  run: (ctx, { eventId }) => fanOut(ctx, eventId),
});
