/** Adds the passkey to the methods of a login whose user has one. */
import { defineContribution } from '#core';
import { forgetPasskeys } from '../services/passkeys.ts';
import { hasPasskey } from '../services/second-factors.ts';

export default defineContribution('identity.factor', {
  method: 'passkey',
  enrolled: hasPasskey,
  forget: forgetPasskeys,
});
