/** What push messages lose with the encryption key. */
import { defineContribution } from '#core';

export default [
  defineContribution('secrets.values', {
    secret: 'encryptionKey',
    title: 'browsers that receive push messages, removed; their users switch push messages on again',
    count: 'select count(*)::int as n from push_subscriptions',
    remove: 'delete from push_subscriptions',
  }),
  defineContribution('secrets.values', {
    secret: 'encryptionKey',
    title: 'key by which push services know this installation, removed; a new one is made',
    count: 'select count(*)::int as n from push_keys',
    remove: 'delete from push_keys',
  }),
];
