/** Logins that ask for a second factor name a passkey among the methods of a user who has one. */
import { defineFilling } from '#core';
import { forgetPasskeys } from '../services/passkeys.ts';
import { hasPasskey } from '../services/second-factors.ts';

export default defineFilling({
  slot: 'identity.factor',
  value: { method: 'passkey', enrolled: hasPasskey, forget: forgetPasskeys },
});
