/** Single sign-on: organizations log in through their own identity provider, by OpenID Connect. */
import { defineModule } from '#core';
import { startDiscoveries } from './services/discoveries.ts';

export default defineModule({
  name: 'sso',
  title: 'Single sign-on',
  summary: 'Logins through the identity provider of an organization',
  requires: ['identity', 'tenancy', 'roles', 'users'],
  permissions: ['organizations:read', 'organizations:write'],
  audits: [
    'sso.provider.create',
    'sso.provider.update',
    'sso.provider.delete',
    'sso.identity.link',
    'user.create',
    'user.login',
    'user.login.failed',
  ],
  start: startDiscoveries,
});
