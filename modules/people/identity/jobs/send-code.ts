/** Makes a code and sends it to a phone. */
import Joi from 'joi';
import { defineJob } from '#core';
import { sendCode } from '../services/factors/sms-codes.ts';

interface Payload {
  id: string;
}
declare module '#core/contract' {
  interface Jobs {
    'identity/send-code': Payload;
  }
}

export default defineJob<Payload>({
  summary: 'Makes a code and sends it to a phone',
  scope: 'platform',
  payload: Joi.object<Payload>({ id: Joi.string().uuid().required() }),
  // Retries take about 90 seconds; after that the user requests a new code.
  maxAttempts: 5,
  interactive: true,
  run: (ctx, { id }) => sendCode(ctx, id),
});
