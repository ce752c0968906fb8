/** What channels lose with the encryption key. */
import { defineContribution } from '#core';

export default defineContribution('secrets.values', {
  secret: 'encryptionKey',
  title: 'channels with passwords or tokens; enter them again',
  count: `select count(*)::int as n from alert_channels where secrets <> '{}'`,
});
