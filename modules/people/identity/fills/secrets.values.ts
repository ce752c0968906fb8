/** What users and enrollments lose with the secrets of the deployment. */
import { defineContribution } from '#core';

export default [
  defineContribution('secrets.values', {
    secret: 'encryptionKey',
    title:
      'authenticators of users, with their recovery codes; an administrator resets the second factor of each (POST /users/{id}/reset-mfa)',
    count: 'select count(*)::int as n from users where mfa_secret is not null',
  }),
  defineContribution('secrets.values', {
    secret: 'encryptionKey',
    title: 'authenticators that are being set up, removed',
    count: 'select count(*)::int as n from mfa_setups',
    remove: 'delete from mfa_setups',
  }),
  defineContribution('secrets.values', {
    secret: 'enrollmentPepper',
    title: 'enrollment keys, which enroll no more devices; make new ones. Devices that are enrolled stay so',
    // reach: an operator counts those of all tenants
    count: 'select count(*)::int as n from enrollment_keys where expires_at > now()',
  }),
];
