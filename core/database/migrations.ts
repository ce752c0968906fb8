/** Numbered SQL files, each applied once and never changed; checksums are compared before the database is changed. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runMigrations as migrateQueue } from 'graphile-worker';
import type pg from 'pg';
import semver from 'semver';
import { VERSION } from '#config';
import { watchCatalog } from './package-guard.ts';
import { openSetupPool } from './pools.ts';
import { DatabaseSetupError, ensureRoles } from './roles.ts';

export interface MigrationFolder {
  /** 'core' or the module's name. */
  owner: string;
  path: string;
  /** For a module package: the prefix of the names of everything that it creates. */
  prefix?: string;
}
interface Migration {
  owner: string;
  name: string;
  sql: string;
  checksum: string;
  /** The oldest version of Quartermaster that works once it is applied; null where any does, as after what only adds. */
  needs: string | null;
  prefix: string | undefined;
}
export interface MigrationState {
  applied: number;
  pending: string[];
  changed: string[];
  /** Applied by a newer version; this one works with them. */
  newer: string[];
}

/** How a migration says which version it needs. */
const NEEDS = /^-- needs: (\S+)$/m;

const LOCK = 7_203_411;

/** The first migration of version 0.1.0, whose migrations were replaced by one file for each owner. */
const FIRST_OF_0_1 = 'core/001-foundations.sql';

async function readFolder(folder: MigrationFolder): Promise<Migration[]> {
  const names = await readdir(folder.path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const files = names.filter((name) => /^\d{3}-[a-z0-9-]+\.sql$/.test(name)).sort();
  return Promise.all(
    files.map(async (name) => {
      const sql = await readFile(join(folder.path, name), 'utf8');
      return {
        owner: folder.owner,
        name,
        sql,
        checksum: createHash('sha256').update(sql).digest('hex'),
        // Packages have versions of their own.
        needs: folder.prefix === undefined ? (NEEDS.exec(sql)?.[1] ?? null) : null,
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
    ? // Databases of before have no column `needs`.
      await client.query<{ owner: string; name: string; checksum: string; needs: string | null }>(
        `select owner, name, checksum, to_jsonb(m) ->> 'needs' as needs from migrations m`,
      )
    : { rows: [] };
  const applied = new Map(rows.map((row) => [`${row.owner}/${row.name}`, row.checksum]));
  const key = (file: Migration) => `${file.owner}/${file.name}`;
  if (applied.has(FIRST_OF_0_1)) {
    throw new DatabaseSetupError(
      'The database was set up by version 0.1.0, which cannot be upgraded: start with an empty database.',
    );
  }
  const own = new Set(files.map(key));
  const unknown = rows.filter(({ owner, name }) => !own.has(`${owner}/${name}`));
  for (const { owner, name, needs } of unknown) {
    if (needs && semver.lt(VERSION, needs)) {
      throw new DatabaseSetupError(
        `The database was upgraded by a newer version: ${owner}/${name} needs Quartermaster ${needs} or newer, and this is ` +
          `${VERSION}. Start that version, or restore a backup of before the upgrade.`,
      );
    }
  }
  // What packages and modules that are gone have left is nothing newer.
  const owners = new Set(files.map(({ owner }) => owner));
  return {
    newer: unknown.filter(({ owner }) => owners.has(owner)).map(({ owner, name }) => `${owner}/${name}`),
    applied: applied.size,
    pending: files.filter((file) => !applied.has(key(file))),
    changed: files.filter((file) => (applied.get(key(file)) ?? file.checksum) !== file.checksum).map(key),
  };
}

/**
 * Compares the applied migrations with the files; changes nothing.
 * @throws DatabaseSetupError when the database was set up by version 0.1.0, or needs a newer version than this one
 */
export async function migrationState(owner: pg.Pool, folders: MigrationFolder[]): Promise<MigrationState> {
  const files = (await Promise.all(folders.map(readFolder))).flat();
  const { applied, pending, changed, newer } = await compare(owner, files);
  return { applied, newer, pending: pending.map((file) => `${file.owner}/${file.name}`), changed };
}

/**
 * Applies missing migrations in order: one process at a time, one transaction for each file. Returns the names applied.
 * @throws DatabaseSetupError when an applied file differs, a migration fails, the database needs a newer version than this one, or
 * it cannot be used
 */
export async function migrate(owner: pg.Pool, folders: MigrationFolder[]): Promise<string[]> {
  const files = (await Promise.all(folders.map(readFolder))).flat();
  const pool = openSetupPool(owner);
  try {
    return await migrateBy(pool, files);
  } finally {
    await pool.end();
  }
}

async function migrateBy(pool: pg.Pool, files: Migration[]): Promise<string[]> {
  const client = await pool.connect();
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
    await ensureRoles(pool);
    await migrateQueue({ pgPool: pool });
    await client.query(`create table if not exists migrations (
      owner text, name text, checksum text not null, applied_at timestamptz not null default now(), needs text, primary key (owner, name))`);
    await client.query('alter table migrations add column if not exists needs text');
    await client.query(`grant select on migrations to quartermaster_platform`);
    for (const file of pending) await apply(client, file);
    return pending.map((file) => `${file.owner}/${file.name}`);
  } finally {
    await client.query('select pg_advisory_unlock($1)', [LOCK]).catch(() => undefined);
    client.release();
  }
}

async function apply(client: pg.PoolClient, file: Migration): Promise<void> {
  await client.query('begin');
  try {
    const check = file.prefix === undefined ? null : await watchCatalog(client, file.prefix);
    await client.query(file.sql);
    await check?.();
    await client.query('insert into migrations (owner, name, checksum, needs) values ($1, $2, $3, $4)', [
      file.owner,
      file.name,
      file.checksum,
      file.needs,
    ]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw new DatabaseSetupError(`Migration ${file.owner}/${file.name} failed: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
