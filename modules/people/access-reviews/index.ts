/** Access reviews: a reviewer checks the users of a tenant, and access that is no longer needed is revoked. */
import { defineModule } from '#core';

export default defineModule({
  name: 'access-reviews',
  title: 'Access reviews',
  summary: 'Reviewing who has access to a partner or an organization, and revoking it',
  requires: ['tenancy', 'users', 'roles'],
  default: 'on',
});
