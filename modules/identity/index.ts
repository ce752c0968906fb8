/** Users, logins, second factor, API keys and enrollment keys. */
import { defineModule } from '#core';

export default defineModule({
  name: 'identity',
  title: 'Identity and access',
  summary: 'Logins, registration, the second factor, API keys and enrollment keys',
  requires: ['tenancy'],
  core: true,
  permissions: ['organizations:read', 'organizations:write'],
  audits: [
    'user.create',
    'user.login',
    'user.login.failed',
    'user.logout',
    'user.profile.update',
    'partner.create',
    'auth.refresh.reuse',
    'auth.session.revoke',
    'auth.mfa.setup',
    'auth.mfa.disable',
    'auth.mfa.recovery_codes.rotate',
    'api_key.create',
    'api_key.update',
    'api_key.rotate',
    'api_key.revoke',
    'enrollment_key.create',
    'enrollment_key.rotate',
    'enrollment_key.delete',
  ],
});
