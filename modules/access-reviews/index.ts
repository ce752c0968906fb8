/** Access reviews: who belongs to a tenant is looked through, and access that is not needed any more is taken away. */
import { defineModule } from '#core';

export default defineModule({
  name: 'access-reviews',
  title: 'Access reviews',
  summary: 'Looking through who has access to a partner or an organization, and revoking it',
  requires: ['tenancy', 'users', 'roles'],
  core: false,
  default: 'on',
  permissions: ['users:read', 'users:write'],
  audits: ['access_review.create', 'access_review.item.update', 'access_review.complete'],
});
