/** The input of the browser's WebAuthn calls, and the output of their toJSON(). */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import Joi from 'joi';
import { named } from '#core';
import { passkeyName } from './passkey.ts';

export interface Registration {
  challengeId: string;
  name: string;
  response: RegistrationResponseJSON;
}
export interface Assertion {
  challengeId: string;
  response: AuthenticationResponseJSON;
}
export interface PasskeyLogin extends Assertion {
  orgId?: string;
  partnerId?: string;
}
export interface FactorAssertion extends Assertion {
  tempToken: string;
}

/** Maximum request body in bytes: several times what the largest key and signature need. */
export const MOST_BYTES = 64 * 1024;
/** A credential id has at most 1023 bytes (WebAuthn Level 3, section 7.1). */
export const MOST_ID_CHARACTERS = 1364;

const base64url = (max: number) =>
  Joi.string()
    .pattern(/^[\w-]+$/)
    .max(max)
    .messages({ 'string.pattern.base': '{{#label}} must be base64url' });
const credentialId = base64url(MOST_ID_CHARACTERS).required();
// Browsers add members as the standard grows, so unknown ones are accepted and ignored.
const credential = (response: Joi.ObjectSchema) =>
  Joi.object({
    id: credentialId,
    rawId: credentialId,
    type: Joi.string().valid('public-key').required(),
    clientExtensionResults: Joi.object().unknown(),
    response: response.required(),
  }).unknown();

export const attested = named(
  'PasskeyAttestation',
  credential(
    Joi.object({
      clientDataJSON: base64url(8000).required(),
      attestationObject: base64url(40_000).required(),
      transports: Joi.array().items(Joi.string().max(32)).max(16).unique(),
    }).unknown(),
  ).description('RegistrationResponseJSON'),
);
export const asserted = named(
  'PasskeyAssertion',
  credential(
    Joi.object({
      clientDataJSON: base64url(8000).required(),
      authenticatorData: base64url(8000).required(),
      signature: base64url(8000).required(),
      userHandle: base64url(100).allow(null),
    }).unknown(),
  ).description('AuthenticationResponseJSON'),
);

const challengeId = Joi.string().uuid().required();
const tempToken = Joi.string().max(200).required();

export const registration = named(
  'PasskeyRegistration',
  Joi.object<Registration>({
    challengeId,
    name: passkeyName.required(),
    response: attested.required(),
  }),
);
export const passkeyLogin = named(
  'PasskeyLogin',
  Joi.object<PasskeyLogin>({
    challengeId,
    response: asserted.required(),
    orgId: Joi.string().uuid().description('The organization to log into, for users of several'),
    partnerId: Joi.string().uuid().description('The partner to log into, for users of several'),
  }),
);
export const factorStart = named('PasskeyFactorStart', Joi.object<{ tempToken: string }, true>({ tempToken }));
export const factorAssertion = named(
  'PasskeyFactor',
  Joi.object<FactorAssertion>({ tempToken, challengeId, response: asserted.required() }),
);

/** @param name the type of the options in the standard */
export const ceremonyShape = (name: string) =>
  Joi.object({
    challengeId: Joi.string().uuid().required().description('Send it back with the answer; valid once, for 5 minutes'),
    options: Joi.object().unknown().required().description(name),
  });
