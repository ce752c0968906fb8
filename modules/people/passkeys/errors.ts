/** Errors of this module. */
import { defineError } from '#core';

export const ChallengeInvalid = defineError(
  'CHALLENGE_INVALID',
  400,
  'The challenge has expired or was used; begin again',
);
export const PasskeyInvalid = defineError('PASSKEY_INVALID', 400, 'The answer of the authenticator is not valid');
export const PasskeyRefused = defineError('PASSKEY_REFUSED', 401, 'The passkey was not accepted');
export const PasskeyKnown = defineError('PASSKEY_KNOWN', 409, 'This passkey is registered already');
export const PasskeyLimit = defineError('PASSKEY_LIMIT_REACHED', 409, 'A user has at most 20 passkeys');
