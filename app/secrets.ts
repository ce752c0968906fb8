/** The secrets for a command or a process: those that the database was used with, or new ones for a new database. */
import pg from 'pg';
import type { Config } from '#config';
import { mustBeSame, readFingerprints, secretsGone } from '../core/database/secret-fingerprints.ts';
import { resolveSecrets, type Secrets, secretSources } from '../core/secrets.ts';

const CONNECT_MS = 10_000;

/** Throws SecretsError where they are lost or others, before anything is written. */
export async function secretsFor(config: Config, databaseUrl: string): Promise<Secrets> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1, connectionTimeoutMillis: CONNECT_MS });
  try {
    const known = await readFingerprints(pool);
    const secrets = await resolveSecrets(config, (path) => {
      if (known.size > 0) throw secretsGone(path);
    });
    mustBeSame(known, secrets, secretSources(config));
    return secrets;
  } finally {
    await pool.end();
  }
}
