/** /auth/register and /auth/register-partner. */
import Joi from 'joi';
import { defineRoute } from '#core';
import { tokensShape } from '#core/auth';
import { newAccount, newPartnerAccount, userShape } from '../models/user.ts';
import { registerAccount, registerPartner } from '../services/accounts/registrations.ts';

const TOO_MANY = 'Too many registration attempts. Try again later.';
/** The answer while registration is off has this body instead of the error envelope. */
const disabled = Joi.object({
  error: Joi.string().required(),
  code: Joi.string().valid('REGISTRATION_DISABLED').required(),
});
const accepted = Joi.object({ success: Joi.boolean().required(), message: Joi.string().required() });

export default [
  defineRoute({
    method: 'POST',
    path: '/auth/register',
    summary: 'Registers an account that an organization may then invite',
    access: { open: 'a person who registers has no account yet' },
    audit: 'user.create',
    work: { platform: 'users belong to no tenant' },
    limits: [{ name: 'register', max: 5, windowSeconds: 3600, by: 'ip', message: TOO_MANY, whenAway: 'refuse' }],
    payload: newAccount,
    response: accepted,
    status: 201,
    answers: { 403: disabled },
    errors: ['WEAK_PASSWORD', 'RATE_LIMITED'],
    handler: (ctx, { payload }) => registerAccount(ctx, payload),
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/register-partner',
    summary: 'Registers a partner with its first administrator, and logs in',
    description: 'For a registered address the answer is 200 with a body that does not reveal it.',
    access: { open: 'a person who registers has no account yet' },
    audit: 'partner.create',
    work: { platform: 'the partner does not exist yet' },
    limits: [
      { name: 'register-partner', max: 3, windowSeconds: 3600, by: 'ip', message: TOO_MANY, whenAway: 'refuse' },
    ],
    payload: newPartnerAccount,
    response: Joi.object({
      user: userShape.required(),
      partner: Joi.object({
        id: Joi.string().uuid().required(),
        name: Joi.string().required(),
        slug: Joi.string().required(),
      }).required(),
      tokens: tokensShape.required(),
      mfaRequired: Joi.boolean().required(),
    }),
    status: 201,
    answers: { 200: accepted, 403: disabled },
    errors: ['WEAK_PASSWORD', 'RATE_LIMITED', 'SLUG_EXHAUSTED'],
    handler: (ctx, { payload }) => registerPartner(ctx, payload),
  }),
];
