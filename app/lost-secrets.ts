/** Checks the secrets against the database, and lets an operator go on without lost ones. */
import type pg from 'pg';
import type { Config } from '#config';
import type { SecretValues } from '#core/contract';
import {
  changedSecrets,
  mustBeSame,
  readFingerprints,
  replaceFingerprints,
  SECRETS,
  secretsGone,
} from '../core/database/secret-fingerprints.ts';
import { PackageFaults } from '../core/loader/faults.ts';
import { loadInstallation } from '../core/loader/load.ts';
import { resolveSecrets, type SecretName, type Secrets, secretSources } from '../core/secrets.ts';
import { loadConfiguration } from './configuration.ts';
import { withStore } from './store.ts';

const ALL = Object.keys(SECRETS) as SecretName[];

/** What core itself keeps. */
const OF_CORE: readonly SecretValues[] = [
  {
    secret: 'jwtSecret',
    title: 'access tokens in use; browsers renew them by themselves',
    count: 'select count(*)::int as n from sessions where revoked_at is null and expires_at > now()',
  },
  {
    secret: 'encryptionKey',
    title: 'sessions; everyone logs in again',
    count: 'select count(*)::int as n from sessions where revoked_at is null and expires_at > now()',
  },
  {
    secret: 'encryptionKey',
    title:
      'chains of the audit trail, whose proofs no longer fit; look at each and run quartermaster audit adopt --owner OWNER',
    count: 'select count(*)::int as n from audit_heads',
  },
  {
    secret: 'encryptionKey',
    title: 'keys that sign checkpoints of the audit trail; run quartermaster audit rotate-key',
    count: 'select count(*)::int as n from audit_signing_keys where retired_at is null',
  },
  {
    secret: 'encryptionKey',
    title: 'kept answers of repeated requests (Idempotency-Key), removed',
    count: 'select count(*)::int as n from idempotency_keys where answer is not null',
    remove: 'delete from idempotency_keys',
  },
];

interface Comparison {
  known: Map<string, string>;
  /** Null where there are none and none are configured. */
  secrets: Secrets | null;
  changed: SecretName[];
  /** The path of the file that would have to be made. */
  gone: string | null;
}

/** Makes nothing. */
async function look(config: Config, owner: pg.Pool): Promise<Comparison> {
  const known = await readFingerprints(owner);
  let gone: string | null = null;
  const secrets = await resolveSecrets(config, (path) => {
    gone = path;
    throw secretsGone(path);
  }).catch((error: unknown) => {
    if (gone === null) throw error;
    return null;
  });
  // What the environment gives is not lost with the file.
  const sources = secretSources(config);
  const changed = secrets
    ? changedSecrets(known, secrets)
    : ALL.filter((name) => known.has(name) && sources[name] === gone);
  return { known, secrets, changed, gone };
}

/** For doctor. Throws one sentence that says what to bring back. */
export async function describeSecrets(config: Config, owner: pg.Pool): Promise<string> {
  const { known, secrets, gone } = await look(config, owner);
  if (gone !== null && known.size > 0) throw secretsGone(gone);
  if (secrets) mustBeSame(known, secrets, secretSources(config));
  return known.size > 0 ? 'those that the database was used with' : 'the database was not used yet';
}

export async function checkSecrets(): Promise<number> {
  const config = await loadConfiguration();
  const text = await withStore(config, ({ database }) => describeSecrets(config, database.owner));
  process.stdout.write(`The secrets: ${text}.\n`);
  return 0;
}

/** Returns the exit code: 1 where something would be lost and was not confirmed. */
export async function acceptLoss(confirmed: boolean): Promise<number> {
  const config = await loadConfiguration();
  const values = await secretValues(config);
  return withStore(config, async ({ database: { owner } }) => {
    const { known, secrets, changed } = await look(config, owner);
    if (known.size === 0 || changed.length === 0) {
      process.stdout.write('Nothing is lost: the secrets are those that the database was used with.\n');
      return 0;
    }
    const lost = values.filter(({ secret }) => changed.includes(secret));
    process.stdout.write(
      `Without the former ${changed.map((name) => SECRETS[name].what).join(', ')} these are lost:\n`,
    );
    for (const { title, count } of lost) {
      const { rows } = await owner.query<{ n: number }>(count);
      if (rows[0]?.n) process.stdout.write(`  ${rows[0].n} ${title}\n`);
    }
    if (!confirmed) {
      process.stdout.write(
        'Nothing was changed. Bring the former secrets back if you can. Otherwise stop every server of this installation\n' +
          'and run quartermaster secrets accept-loss --confirm.\n',
      );
      return 1;
    }
    await goOn(owner, secrets ?? (await resolveSecrets(config)), lost);
    process.stdout.write(
      'The installation goes on with the present secrets. Do what the list above says, and back them up.\n',
    );
    return 0;
  });
}

/** Removes what is made anew and notes the secrets, both or neither. */
async function goOn(owner: pg.Pool, secrets: Secrets, lost: readonly SecretValues[]): Promise<void> {
  const client = await owner.connect();
  try {
    await client.query('begin');
    for (const { remove } of lost) if (remove) await client.query(remove);
    await replaceFingerprints(client, secrets);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}

/** Those of core and of every module; a package that cannot be loaded is left out. */
async function secretValues(config: Config): Promise<SecretValues[]> {
  const modules = await loadInstallation(config, new PackageFaults());
  const filled = modules.flatMap(({ contributions }) =>
    contributions.flatMap(({ value }) => (value.slot === 'secrets.values' ? [value.value as SecretValues] : [])),
  );
  return [...OF_CORE, ...filled];
}
