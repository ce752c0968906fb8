/** Users, logins, second factor, API keys and enrollment keys. */
import { defineModule } from '#core';
import { api } from './api.ts';
import { apiKeyCreate, apiKeyCreated, apiKeyRotated, apiKeyShape, apiKeyUpdate } from './models/api-key.ts';
import {
  enrollmentKeyCreate,
  enrollmentKeyOnce,
  enrollmentKeyRotate,
  enrollmentKeyShape,
} from './models/enrollment-key.ts';
import { codeOnly, enabledShape } from './models/factor.ts';
import { passwordChange, passwordForgotten, passwordReset } from './models/password.ts';
import { sessionShape } from './models/session.ts';
import {
  credentials,
  meShape,
  newAccount,
  newPartnerAccount,
  profileShape,
  profileUpdate,
  userShape,
} from './models/user.ts';
import type { ExtraFactor, LoginRule } from './services/access/login-rules.ts';

declare module '#core/contract' {
  interface Slots {
    'identity.login-rule': LoginRule;
    'identity.factor': ExtraFactor;
  }
}

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
    'user.password.change',
    'user.password.reset',
    'partner.create',
    'auth.refresh.reuse',
    'auth.phone.verify',
    'auth.phone.confirm',
    'auth.sms.refused',
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
  slots: ['identity.login-rule', 'identity.factor'],
  // A login must not become easier because a feature was switched off.
  steadySlots: ['identity.login-rule', 'identity.factor'],
  schemas: {
    AccountCreate: newAccount,
    ApiKey: apiKeyShape,
    ApiKeyCreate: apiKeyCreate,
    ApiKeyCreated: apiKeyCreated,
    ApiKeyRotated: apiKeyRotated,
    ApiKeyUpdate: apiKeyUpdate,
    Credentials: credentials,
    EnrollmentKey: enrollmentKeyShape,
    EnrollmentKeyCreate: enrollmentKeyCreate,
    EnrollmentKeyRotate: enrollmentKeyRotate,
    EnrollmentKeyWithValue: enrollmentKeyOnce,
    FactorCode: codeOnly,
    FactorEnabled: enabledShape,
    Me: meShape,
    PartnerAccountCreate: newPartnerAccount,
    PasswordChange: passwordChange,
    PasswordForgotten: passwordForgotten,
    PasswordReset: passwordReset,
    Profile: profileShape,
    ProfileUpdate: profileUpdate,
    Session: sessionShape,
    UserBrief: userShape,
  },
  api,
});
