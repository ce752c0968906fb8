/** Compares the secrets of a process with those that the database was used with. */
import { createHmac } from 'node:crypto';
import type pg from 'pg';
import { type SecretName, type Secrets, SecretsError } from '../secrets.ts';

type Queries = Pick<pg.ClientBase, 'query'>;

/** What operators call the secrets: how they are configured, and what they are. */
export const SECRETS: Readonly<Record<SecretName, { variable: string; what: string }>> = {
  jwtSecret: { variable: 'JWT_SECRET', what: 'key of access tokens' },
  encryptionKey: { variable: 'APP_ENCRYPTION_KEY', what: 'encryption key' },
  enrollmentPepper: { variable: 'ENROLLMENT_KEY_PEPPER', what: 'pepper of enrollment keys' },
};
const NAMES = Object.keys(SECRETS) as SecretName[];
const WAY_ON =
  'To go on without it, run quartermaster secrets accept-loss: it says what is lost before it changes anything.';

/** Tells whether two secrets are the same, and nothing else of them. */
const fingerprintOf = (name: SecretName, secret: string): string =>
  createHmac('sha256', secret).update(`quartermaster secret v1 ${name}`).digest('hex');

/** By name; empty for a database that no version with fingerprints has used. */
export async function readFingerprints(pool: Queries): Promise<Map<string, string>> {
  const { rows: known } = await pool.query<{ present: boolean }>(
    `select to_regclass('public.secret_fingerprints') is not null as present`,
  );
  if (!known[0]?.present) return new Map();
  const { rows } = await pool.query<{ name: string; fingerprint: string }>(
    'select name, fingerprint from secret_fingerprints',
  );
  return new Map(rows.map(({ name, fingerprint }) => [name, fingerprint]));
}

/** The secrets that the database was used with others for. */
export function changedSecrets(known: ReadonlyMap<string, string>, secrets: Secrets): SecretName[] {
  return NAMES.filter((name) => known.has(name) && known.get(name) !== fingerprintOf(name, secrets[name]));
}

/** For a database with fingerprints whose secrets are not there: asked before new ones are made. */
export const secretsGone = (path: string): SecretsError =>
  new SecretsError(
    `${path} is gone, and this database was used with the secrets in it: bring the file back, or set JWT_SECRET and ` +
      `APP_ENCRYPTION_KEY to what it held. ${WAY_ON}`,
  );

/** Throws SecretsError, naming each secret that differs and where it comes from. @param sources the variable or file of each */
export function mustBeSame(
  known: ReadonlyMap<string, string>,
  secrets: Secrets,
  sources: Readonly<Record<SecretName, string>>,
): void {
  const changed = changedSecrets(known, secrets);
  if (changed.length === 0) return;
  const others = changed.map((name) => `another ${SECRETS[name].what} than the one in ${sources[name]}`).join(', and ');
  throw new SecretsError(`This database was used with ${others}: bring the former one back there. ${WAY_ON}`);
}

/** Notes the secrets of a database that has none noted yet. */
export async function keepFingerprints(owner: Queries, secrets: Secrets): Promise<void> {
  await owner.query(
    `insert into secret_fingerprints (name, fingerprint) select * from unnest($1::text[], $2::text[])
     on conflict (name) do nothing`,
    valuesOf(secrets),
  );
}

/** Notes these secrets in place of the former ones. */
export async function replaceFingerprints(owner: Queries, secrets: Secrets): Promise<void> {
  await owner.query(
    `insert into secret_fingerprints as f (name, fingerprint) select * from unnest($1::text[], $2::text[])
     on conflict (name) do update set fingerprint = excluded.fingerprint, since = now()
     where f.fingerprint <> excluded.fingerprint`,
    valuesOf(secrets),
  );
}

const valuesOf = (secrets: Secrets) => [NAMES, NAMES.map((name) => fingerprintOf(name, secrets[name]))];
