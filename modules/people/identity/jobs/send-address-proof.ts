/** Mails the link that confirms an address. */
import Joi from 'joi';
import { defineJob } from '#core';
import { sendAddressProof } from '../services/accounts/address-proofs.ts';
import type { Sent } from '../services/accounts/notices.ts';

declare module '#core/contract' {
  interface Jobs {
    'identity/send-address-proof': Sent;
  }
}

export default defineJob<Sent>({
  summary: 'Mails the link that confirms an address',
  scope: 'platform',
  payload: Joi.object<Sent>({
    email: Joi.string().required(),
    at: Joi.string().required(),
    ip: Joi.string().allow(null).required(),
  }),
  maxAttempts: 5,
  run: (ctx, sent) => sendAddressProof(ctx, sent),
});
