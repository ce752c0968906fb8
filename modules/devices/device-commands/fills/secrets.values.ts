/** What commands that wait lose with the encryption key. */
import { defineContribution } from '#core';

export default defineContribution('secrets.values', {
  secret: 'encryptionKey',
  title: 'commands that wait and hold secrets, such as scripts; they are cancelled, and people send them again',
  // reach: runs as the owner of the tables, over all tenants
  count: `select count(*)::int as n from device_commands where payload ? '$sealed'`,
  // reach: runs as the owner of the tables, over all tenants
  remove: `update device_commands set status = 'cancelled', finished_at = now(), payload = '{}',
    error = 'The encryption key of the server was lost' where payload ? '$sealed'`,
});
