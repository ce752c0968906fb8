/** What webhooks lose with the encryption key. */
import { defineContribution } from '#core';

export default defineContribution('secrets.values', {
  secret: 'encryptionKey',
  title:
    'webhooks, whose signing secrets and headers cannot be read; rotate the secret of each and enter its headers again',
  count: 'select count(*)::int as n from webhooks',
});
