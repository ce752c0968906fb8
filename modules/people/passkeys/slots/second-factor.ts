/** Adds the passkey to the methods of a login whose user has one. */
import { defineFilling } from '#core';
import { forgetPasskeys } from '../services/passkeys.ts';
import { hasPasskey } from '../services/second-factors.ts';

export default defineFilling({
  slot: 'identity.factor',
  value: { method: 'passkey', enrolled: hasPasskey, forget: forgetPasskeys },
});
