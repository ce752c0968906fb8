/** Members of a tenant: listing, inviting, changing and removing users, and accepting invitations. */
import { defineModule } from '#core';
import { api } from './api.ts';

export default defineModule({
  name: 'users',
  title: 'Users and invitations',
  summary: 'The members of a tenant, their roles and limits, and invitations',
  requires: ['tenancy', 'identity', 'roles'],
  core: true,
  auditOnly: ['user.create', 'user.provision'],
  api,
});
