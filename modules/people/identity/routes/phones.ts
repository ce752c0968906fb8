/** /auth/phone: verifying a phone number. */
import Joi from 'joi';
import { defineRoute } from '#core';
import { codeOnly } from '../models/factor.ts';
import { confirmPhone, verifyPhone } from '../services/factors/phones.ts';

const access = { permission: null, why: 'callers verify their own phone', apiKey: false, beforeMfa: true };
const work = { platform: 'the tenant role cannot read phone numbers; limited to the caller' };
const HOUR = 3600;
const TOO_MANY = 'Too many messages were sent; wait before the next';

interface PhoneNumber {
  phoneNumber: string;
}

export default [
  defineRoute({
    method: 'POST',
    path: '/auth/phone/verify',
    summary: 'Sends a code to a phone number; the old number stays in use until it is confirmed',
    description: 'Requires a login within the last 15 minutes and, when MFA is on, a session that passed it.',
    access,
    audit: 'auth.phone.verify',
    work,
    // The caller chooses the number and each message costs money: nothing is sent while the counter store is away.
    limits: [
      { name: 'phone-user', max: 5, windowSeconds: HOUR, by: 'actor', message: TOO_MANY, whenAway: 'refuse' },
      {
        name: 'phone-number',
        max: 5,
        windowSeconds: HOUR,
        by: ({ payload }: { payload: PhoneNumber }) => payload.phoneNumber,
        message: TOO_MANY,
        whenAway: 'refuse',
      },
    ],
    payload: Joi.object<PhoneNumber, true>({
      phoneNumber: Joi.string()
        .trim()
        .pattern(/^\+[1-9]\d{6,14}$/)
        .required()
        .messages({ 'string.pattern.base': '{{#label}} must be in E.164 form, such as +491701234567' }),
    }),
    response: Joi.object({ success: Joi.boolean().required(), phone: Joi.string().required() }),
    errors: ['REAUTHENTICATION_REQUIRED', 'MFA_VERIFICATION_REQUIRED', 'RATE_LIMITED', 'UNAVAILABLE'],
    handler: (ctx, { payload }) => verifyPhone(ctx, payload.phoneNumber),
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/phone/confirm',
    summary: 'Confirms the number with the code that was sent to it',
    description: 'A code is valid for 10 minutes and 5 attempts.',
    access,
    audit: 'auth.phone.confirm',
    work,
    payload: codeOnly,
    response: Joi.object({
      success: Joi.boolean().required(),
      phone: Joi.string().required(),
      phoneVerified: Joi.boolean().required(),
    }),
    errors: ['INVALID_CODE', 'MFA_VERIFICATION_REQUIRED'],
    handler: (ctx, { payload }) => confirmPhone(ctx, payload.code),
  }),
];
