/** Passkeys: a second factor beside the authenticator app, and a login without a password (WebAuthn Level 3). */
import { defineModule } from '#core';
import { asserted, attested, factorAssertion, factorStart, passkeyLogin, registration } from './models/ceremony.ts';
import { passkeyShape, passkeyUpdate } from './models/passkey.ts';

export default defineModule({
  name: 'passkeys',
  title: 'Passkeys',
  summary: 'Passkeys as a second factor and as a login without a password',
  requires: ['identity'],
  default: 'on',
  auditOnly: ['user.login.failed'],
  schemas: {
    Passkey: passkeyShape,
    PasskeyAssertion: asserted,
    PasskeyAttestation: attested,
    PasskeyFactor: factorAssertion,
    PasskeyFactorStart: factorStart,
    PasskeyLogin: passkeyLogin,
    PasskeyRegistration: registration,
    PasskeyUpdate: passkeyUpdate,
  },
});
