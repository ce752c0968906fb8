/** Numbered SQL files, each applied once and never changed: checksums are compared before anything is touched. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runMigrations as migrateQueue } from 'graphile-worker';
import type pg from 'pg';
import { watchCatalog } from './package-guard.ts';
import { DatabaseSetupError, ensureRoles } from './roles.ts';

export interface MigrationFolder {
  /** 'core' or the module's name. */
  owner: string;
  path: string;
  /** Of a module package: what all that it makes begins with. */
  prefix?: string;
}
interface Migration {
  owner: string;
  name: string;
  sql: string;
  checksum: string;
  prefix: string | undefined;
}
export interface MigrationState {
  applied: number;
  pending: string[];
  changed: string[];
}

const LOCK = 7_203_411;

async function readFolder(folder: MigrationFolder): Promise<Migration[]> {
  const names = await readdir(folder.path).catch(() => []);
  const files = names.filter((name) => /^\d{3}-[a-z0-9-]+\.sql$/.test(name)).sort();
  return Promise.all(
    files.map(async (name) => {
      const sql = await readFile(join(folder.path, name), 'utf8');
      return {
        owner: folder.owner,
        name,
        sql,
        checksum: createHash('sha256').update(sql).digest('hex'),
        prefix: folder.prefix,
      };
    }),
  );
}

async function compare(client: pg.PoolClient | pg.Pool, files: Migration[]) {
  const { rows: known } = await client.query<{ present: boolean }>(
    `select to_regclass('public.migrations') is not null as present`,
  );
  const { rows } = known[0]?.present
    ? await client.query<{ owner: string; name: string; checksum: string }>(
        'select owner, name, checksum from migrations',
      )
    : { rows: [] };
  const applied = new Map(rows.map((row) => [`${row.owner}/${row.name}`, row.checksum]));
  const key = (file: Migration) => `${file.owner}/${file.name}`;
  return {
    applied: applied.size,
    pending: files.filter((file) => !applied.has(key(file))),
    changed: files.filter((file) => (applied.get(key(file)) ?? file.checksum) !== file.checksum).map(key),
  };
}

/** What stands in the database against what lies in the folders; changes nothing. */
export async function migrationState(owner: pg.Pool, folders: MigrationFolder[]): Promise<MigrationState> {
  const files = (await Promise.all(folders.map(readFolder))).flat();
  const { applied, pending, changed } = await compare(owner, files);
  return { applied, pending: pending.map((file) => `${file.owner}/${file.name}`), changed };
}

/** Applies what is missing, in order. One process at a time; each file is one transaction. Returns the names applied. */
export async function migrate(owner: pg.Pool, folders: MigrationFolder[]): Promise<string[]> {
  const files = (await Promise.all(folders.map(readFolder))).flat();
  const client = await owner.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    const { pending, changed } = await compare(client, files);
    if (changed.length > 0) {
      throw new DatabaseSetupError(
        `Applied migrations must never change, but these files differ from what was applied: ${changed.join(', ')}.`,
      );
    }
    if (pending.length === 0) return [];
    const { rows } = await client.query<{ version: string }>(`select current_setting('server_version_num') as version`);
    if (Number(rows[0]?.version) < 150_000) throw new DatabaseSetupError('PostgreSQL 15 or newer is needed.');
    await ensureRoles(owner);
    await migrateQueue({ pgPool: owner });
    await client.query(`create table if not exists migrations (
      owner text, name text, checksum text not null, applied_at timestamptz not null default now(), primary key (owner, name))`);
    await client.query(`grant select on migrations to quartermaster_platform`);
    for (const file of pending) await apply(client, file);
    return pending.map((file) => `${file.owner}/${file.name}`);
  } finally {
    await client.query('select pg_advisory_unlock($1)', [LOCK]).catch(() => undefined);
    // What a package has set in the session goes with the connection.
    client.release(folders.some(({ prefix }) => prefix !== undefined));
  }
}

async function apply(client: pg.PoolClient, file: Migration): Promise<void> {
  await client.query('begin');
  try {
    const check = file.prefix === undefined ? null : await watchCatalog(client, file.prefix);
    await client.query(file.sql);
    await check?.();
    await client.query('insert into migrations (owner, name, checksum) values ($1, $2, $3)', [
      file.owner,
      file.name,
      file.checksum,
    ]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw new DatabaseSetupError(`Migration ${file.owner}/${file.name} failed: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
