/** `npm test`: one PostgreSQL and one migrated template database for the whole run, then ava on the files asked for. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { startEmbeddedServer } from '../../core/database/embedded-server.ts';
import { migrate } from '../../core/database/migrations.ts';
import { openDatabase } from '../../core/database/pools.ts';
import { loadModules, migrationFolders } from '../../core/platform.ts';

interface Server {
  url: string;
  stop(): Promise<void>;
}

async function openServer(): Promise<Server> {
  // DATABASE_URL is the only way to an outside server: one that merely happens to run is never used.
  const outside = process.env.DATABASE_URL;
  if (outside) return { url: outside, stop: async () => undefined };
  const dataDir = await mkdtemp(join(tmpdir(), 'quartermaster-test-'));
  const server = await startEmbeddedServer({
    dataDir,
    log: () => undefined,
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' },
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

async function makeTemplate(url: string): Promise<string> {
  const name = `quartermaster_template_${randomUUID().slice(0, 8)}`;
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  const database = openDatabase({ url: withDatabase(url, name), poolSize: 2, onError: () => undefined });
  await migrate(database.owner, migrationFolders(await loadModules({ modules: { disabled: [], enabled: [] } })));
  await database.close();
  return name;
}

async function dropAll(url: string, template: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const { rows } = await admin.query<{ datname: string }>('select datname from pg_database where datname like $1', [
    `${template}%`,
  ]);
  for (const { datname } of rows) await admin.query(`drop database if exists ${datname} with (force)`);
  await admin.end();
}

function runAva(args: string[], env: NodeJS.ProcessEnv): Promise<{ code: number; passed: number; failed: number }> {
  return new Promise((resolve) => {
    const ava = spawn(
      process.execPath,
      [join(import.meta.dirname, '../../node_modules/ava/entrypoints/cli.js'), ...args],
      {
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    let passed = 0;
    let failed = 0;
    createInterface({ input: ava.stdout }).on('line', (line) => {
      process.stdout.write(`${line}\n`);
      if (/^\s*✔ /.test(line)) passed += 1;
      else if (/^\s*✘ /.test(line)) failed += 1;
    });
    ava.on('close', (code) => resolve({ code: code ?? 1, passed, failed }));
  });
}

const server = await openServer();
let code = 1;
try {
  const template = await makeTemplate(server.url);
  try {
    const result = await runAva(process.argv.slice(2), {
      ...process.env,
      QUARTERMASTER_TEST_SERVER: server.url,
      QUARTERMASTER_TEST_TEMPLATE: template,
      NODE_ENV: 'test',
    });
    code = result.code === 0 && result.passed === 0 ? 1 : result.code;
    process.stdout.write(`\n${result.passed} passed, ${code === 0 ? 0 : Math.max(1, result.failed)} failed\n`);
  } finally {
    await dropAll(server.url, template);
  }
} finally {
  await server.stop();
}
process.exit(code);
