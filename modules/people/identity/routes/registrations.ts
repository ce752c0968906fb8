/** /auth/register and /auth/register-partner. */
import Joi from 'joi';
import { defineRoute, type Limit, type Services } from '#core';
import { tokensShape } from '#core/auth';
import { type AddressProof, addressProof } from '../models/password.ts';
import { newAccount, newPartnerAccount, userShape } from '../models/user.ts';
import { confirmAddress, requestAddressProof } from '../services/accounts/address-proofs.ts';
import { registerAccount, registerPartner } from '../services/accounts/registrations.ts';

const TOO_MANY = 'Too many registration attempts. Try again later.';
/** The answer while registration is off has this body instead of the error envelope. */
const disabled = Joi.object({
  error: Joi.string().required(),
  code: Joi.string().valid('REGISTRATION_DISABLED').required(),
});
const whileDisabled = ({ identity }: Services['config']) =>
  identity.registration
    ? null
    : { status: 403, body: { error: 'Registration is currently disabled', code: 'REGISTRATION_DISABLED' } };
const attempts = (name: string, max: number): Limit[] => [
  { name, max, windowSeconds: 3600, by: 'ip', message: TOO_MANY, whenAway: 'refuse', beforeBody: true },
];
const accepted = Joi.object({ success: Joi.boolean().required(), message: Joi.string().required() });

export default [
  defineRoute({
    method: 'POST',
    path: '/auth/register',
    summary: 'Registers an account that an organization may then invite',
    access: { open: 'a person who registers has no account yet' },
    audit: 'user.create',
    work: { platform: 'users belong to no tenant' },
    closed: whileDisabled,
    limits: attempts('register', 5),
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
    closed: whileDisabled,
    limits: attempts('register-partner', 3),
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
    errors: ['WEAK_PASSWORD', 'RATE_LIMITED'],
    handler: (ctx, { payload }) => registerPartner(ctx, payload),
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/confirm-address',
    summary: 'Confirms the address of an account with the token of a mailed link',
    description:
      'Send the access token of the account with it, of a session that passed the second factor where the account has one. An account without a second factor may send its password instead.',
    access: { open: 'an account without a place cannot log in' },
    audit: 'user.email.confirm',
    work: { platform: 'the caller is not known yet' },
    limits: [
      { name: 'confirm-address', max: 20, windowSeconds: 3600, by: 'ip' },
      {
        name: 'confirm-address-link',
        max: 10,
        windowSeconds: 3600,
        by: ({ payload }: { payload: AddressProof }) => payload.token,
      },
    ],
    payload: addressProof,
    response: Joi.object({ success: Joi.boolean().required() }),
    errors: [
      ...['ADDRESS_PROOF_INVALID', 'INVALID_CREDENTIALS', 'UNAUTHENTICATED'],
      ...['MFA_VERIFICATION_REQUIRED', 'RATE_LIMITED'],
    ],
    handler: (ctx, { payload, headers }) => confirmAddress(ctx, payload, headers.authorization),
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/confirm-address/send',
    summary: "Mails the caller another link that confirms the account's address; earlier links stop working",
    access: { permission: null, why: 'callers confirm their own address', apiKey: false, beforeMfa: true },
    audit: { none: 'nothing changes; the confirmation is recorded' },
    work: { platform: 'the tenant role cannot read accounts; limited to the caller' },
    limits: [{ name: 'confirm-address-send', max: 3, windowSeconds: 3600, by: 'actor' }],
    response: Joi.object({ success: Joi.boolean().required() }),
    errors: ['INVALID_STATE', 'RATE_LIMITED'],
    handler: (ctx) => requestAddressProof(ctx),
  }),
];
