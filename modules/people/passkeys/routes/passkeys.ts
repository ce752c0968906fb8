/** /auth/passkeys: the caller's own passkeys. */
import Joi from 'joi';
import { defineRoute, type PageQuery, pageOf, pageQuery } from '#core';
import { ceremonyShape, MOST_BYTES, registration } from '../models/ceremony.ts';
import { passkeyShape, passkeyUpdate } from '../models/passkey.ts';
import { listPasskeys, removePasskey, renamePasskey } from '../services/passkeys.ts';
import { beginRegistration, finishRegistration } from '../services/registrations.ts';

const access = { permission: null, why: 'callers manage their own passkeys', apiKey: false };
const work = { platform: 'the tenant role cannot read passkeys; limited to the caller' };
const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });
const one = Joi.object({ data: passkeyShape.required() });

export default [
  defineRoute({
    method: 'GET',
    path: '/auth/passkeys',
    summary: "Lists the caller's passkeys, newest first",
    access,
    work,
    query: Joi.object<PageQuery>(pageQuery()),
    response: pageOf(passkeyShape),
    handler: (ctx, { query }) => listPasskeys(ctx, query),
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/passkeys/options',
    summary: 'Starts the registration of a passkey, within 15 minutes of a login',
    description: 'The options are for `PublicKeyCredential.parseCreationOptionsFromJSON()`.',
    access,
    audit: { none: 'nothing changes before the authenticator has answered' },
    work,
    limits: [{ name: 'passkey-options', max: 60, windowSeconds: 900, by: 'actor' }],
    response: ceremonyShape('PublicKeyCredentialCreationOptionsJSON'),
    errors: ['REAUTHENTICATION_REQUIRED', 'MFA_VERIFICATION_REQUIRED', 'PASSKEY_LIMIT_REACHED'],
    handler: (ctx) => beginRegistration(ctx),
  }),
  defineRoute({
    method: 'POST',
    path: '/auth/passkeys',
    summary: 'Registers the passkey that the authenticator created',
    access,
    audit: 'auth.passkey.create',
    work,
    maxBytes: MOST_BYTES,
    payload: registration,
    response: one,
    status: 201,
    errors: ['CHALLENGE_INVALID', 'PASSKEY_INVALID', 'PASSKEY_KNOWN', 'PASSKEY_LIMIT_REACHED'],
    handler: (ctx, { payload }) => finishRegistration(ctx, payload),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/auth/passkeys/{id}',
    summary: "Renames one of the caller's passkeys",
    access,
    audit: 'auth.passkey.update',
    work,
    params,
    payload: passkeyUpdate,
    response: one,
    errors: ['NO_UPDATES'],
    handler: (ctx, { params: { id }, payload }) => renamePasskey(ctx, id, payload),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/auth/passkeys/{id}',
    summary: "Deletes one of the caller's passkeys, within 15 minutes of a login",
    access,
    audit: 'auth.passkey.delete',
    work,
    params,
    response: Joi.object({ success: Joi.boolean().required() }),
    errors: ['REAUTHENTICATION_REQUIRED', 'MFA_VERIFICATION_REQUIRED'],
    handler: (ctx, { params: { id } }) => removePasskey(ctx, id),
  }),
];
