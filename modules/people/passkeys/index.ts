/** Passkeys: a second factor beside the authenticator app, and a login without a password (WebAuthn Level 3). */
import { defineModule } from '#core';

export default defineModule({
  name: 'passkeys',
  title: 'Passkeys',
  summary: 'Passkeys as a second factor and as a login without a password',
  requires: ['identity'],
  default: 'on',
  auditOnly: ['user.login.failed'],
});
