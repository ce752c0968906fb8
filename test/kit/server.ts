/** The PostgreSQL that tests run on, and the migrated template of their databases. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedServer } from '../../core/database/embedded/server.ts';
import { migrate } from '../../core/database/migrations.ts';
import { openDatabase } from '../../core/database/pools.ts';
import { loadModules, migrationFolders } from '../../core/loader/load.ts';

export interface TestServer {
  url: string;
  stop(): Promise<void>;
}

/** The server of `DATABASE_URL`, or one of its own. */
export async function openServer(): Promise<TestServer> {
  // Only DATABASE_URL names an outside server: a server that happens to run on this machine is never used.
  const outside = process.env.DATABASE_URL;
  if (outside) return { url: outside, stop: async () => undefined };
  const dataDir = await mkdtemp(join(tmpdir(), 'quartermaster-test-'));
  const server = await startEmbeddedServer({
    dataDir,
    log: () => undefined,
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
  });
  return {
    url: server.url,
    async stop() {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

const withDatabase = (url: string, name: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href;

/** A migrated database; returns its name. */
export async function makeTemplate(url: string): Promise<string> {
  const name = `quartermaster_template_${randomUUID().slice(0, 8)}`;
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  const database = openDatabase({ url: withDatabase(url, name), poolSize: 2, onError: () => undefined });
  await migrate(database.owner, migrationFolders(await loadModules()));
  await database.close();
  return name;
}

/** Drops the template and all that was made from it. */
export async function dropAll(url: string, template: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const { rows } = await admin.query<{ datname: string }>('select datname from pg_database where datname like $1', [
    `${template}%`,
  ]);
  for (const { datname } of rows) await admin.query(`drop database if exists ${datname} with (force)`);
  await admin.end();
}
