/** What single sign-on loses with the encryption key. */
import { defineContribution } from '#core';

export default [
  defineContribution('secrets.values', {
    secret: 'encryptionKey',
    title: 'client secrets of single sign-on; enter them again',
    count: 'select count(*)::int as n from sso_providers where client_secret is not null',
  }),
  defineContribution('secrets.values', {
    secret: 'encryptionKey',
    title: 'logins by single sign-on that are under way, removed',
    count: 'select count(*)::int as n from sso_sessions',
    remove: 'delete from sso_sessions',
  }),
];
