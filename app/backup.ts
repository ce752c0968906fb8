/** Explains how this installation is backed up and restored. It makes no backup. */
import { join, resolve } from 'node:path';
import { type Config, loadConfig } from '#config';

export function printBackupGuide(): void {
  const config = loadConfig();
  const lines = config.database.url ? externalGuide(config) : embeddedGuide(config);
  process.stdout.write(`${lines.join('\n')}\n`);
}

function embeddedGuide(config: Config): string[] {
  const dataDir = resolve(config.dataDir);
  return [
    'This command makes no backup; it says how to make one.',
    '',
    `This installation uses the embedded PostgreSQL. Everything is in ${dataDir}:`,
    'the database (postgres/), generated secrets (secrets.json), and files that the server keeps.',
    '',
    'Back up: stop the server, copy the whole folder, start the server. A copy of a running server cannot be restored.',
    `  tar -czf quartermaster-backup.tar.gz -C ${dataDir} .`,
    ...secretsOf(config),
    '',
    'Restore: with the server stopped, extract the copy into an empty DATA_DIR and start the same version.',
  ];
}

function externalGuide(config: Config): string[] {
  const dataDir = resolve(config.dataDir);
  return [
    'This command makes no backup; it says how to make one.',
    '',
    'This installation uses the database of DATABASE_URL. Back up these three, while the server runs:',
    '',
    '1. The database, with the PostgreSQL tools of the version of the server, as a user who may bypass row-level security:',
    '     pg_dump --format=custom --file=quartermaster.dump "$DATABASE_URL"',
    '     pg_dumpall --roles-only --file=roles.sql --dbname="$DATABASE_URL"',
    '2. The secrets: without them stored credentials cannot be read and sessions and keys are invalid.',
    `     ${join(dataDir, 'secrets.json')}, where it exists`,
    ...secretsOf(config),
    `3. Files in ${dataDir}: archives of the audit trail (unless S3_BUCKET is set) and releases of the agent.`,
    '',
    'Restore: create the roles (psql --file=roles.sql), restore into an empty database (pg_restore --dbname=…),',
    'put the secrets and files back, and start the same version.',
  ];
}

/** Secrets that the environment sets are not in DATA_DIR. */
function secretsOf({ secrets }: Config): string[] {
  const variables = {
    JWT_SECRET: secrets.jwtSecret,
    APP_ENCRYPTION_KEY: secrets.appEncryptionKey,
    SECRET_ENCRYPTION_KEY: secrets.secretEncryptionKey,
    ENROLLMENT_KEY_PEPPER: secrets.enrollmentKeyPepper,
  };
  const set = Object.entries(variables).flatMap(([name, value]) => (value ? [name] : []));
  return set.length > 0 ? [`   Also keep the values of these variables: ${set.join(', ')}`] : [];
}
