/** Users, logins, second factor, API keys and enrollment keys. */
import { defineModule, provide } from '#core';
import { api } from './api.ts';
import { PasswordStrength, STRENGTH } from './services/accounts/password-strength.ts';
import { variables } from './variables.ts';

export default defineModule({
  name: 'identity',
  title: 'Identity and access',
  summary: 'Logins, registration, the second factor, API keys and enrollment keys',
  requires: ['tenancy', 'devices'],
  variables,
  core: true,
  auditOnly: ['user.login.failed', 'auth.refresh.reuse', 'auth.sms.refused'],
  api,
  start: () => ({ provide: [provide(STRENGTH, new PasswordStrength())] }),
});
