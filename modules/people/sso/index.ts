/** Single sign-on: organizations log in through their own identity provider, by OpenID Connect. */
import { defineModule, provide } from '#core';
import { DISCOVERIES, Discoveries } from './services/discoveries.ts';

export default defineModule({
  name: 'sso',
  title: 'Single sign-on',
  summary: 'Logins through the identity provider of an organization',
  requires: ['identity', 'tenancy', 'roles', 'users'],
  default: 'on',
  auditOnly: ['sso.identity.link', 'user.create', 'user.login.failed'],
  start: () => ({ provide: [provide(DISCOVERIES, new Discoveries())] }),
});
