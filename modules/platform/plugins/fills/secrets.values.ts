/** What plugins lose with the encryption key. */
import { defineContribution } from '#core';

export default defineContribution('secrets.values', {
  secret: 'encryptionKey',
  title: 'installed plugins with secrets in their configuration; enter them again',
  count: `select count(*)::int as n from plugin_installations where secret_config <> '{}'`,
});
