/** Users, logins, second factor, API keys and enrollment keys. */
import { type Context, defineModule } from '#core';
import { countEnrollment, lockEnrollmentKey } from './services/enrollments.ts';

const api = (ctx: Context) => ({
  /** The key, held until this transaction ends, or null. Needs platform work: the organization is not known before. */
  lockEnrollmentKey: (rawKey: string) => lockEnrollmentKey(ctx, rawKey),
  /** Counts one successful enrollment; false when the key has expired or is used up. */
  countEnrollment: (keyId: string) => countEnrollment(ctx, keyId),
});

declare module '#core/contract' {
  interface Apis {
    identity: ReturnType<typeof api>;
  }
}

export default defineModule({
  name: 'identity',
  title: 'Identity and access',
  summary: 'Logins, registration, the second factor, API keys and enrollment keys',
  requires: ['tenancy'],
  core: true,
  permissions: ['organizations:read', 'organizations:write', 'users:read'],
  audits: [
    'user.create',
    'user.login',
    'user.login.failed',
    'user.logout',
    'user.profile.update',
    'user.password.change',
    'user.password.reset',
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
  api,
});
