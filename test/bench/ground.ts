/** The ground of a benchmark run: a database with fsync on, and the API in a process of its own, as in production. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type Arranged, type Tenant, tenant } from '#test';
import { createTokenSigner } from '../../core/auth/tokens.ts';
import { migrate } from '../../core/database/migrations.ts';
import { openDatabase } from '../../core/database/pools.ts';
import { loadModules, migrationFolders, ROOT } from '../../core/loader/load.ts';

export interface Ground extends Arranged {
  seconds: number;
  /** The URL of the PostgreSQL server. */
  server: string;
  databaseUrl: string;
  /** The API's address; started when first asked for. */
  api(): Promise<string>;
  /** Another API process with variables of its own, held to one processor if asked for. */
  startApi(env: Record<string, string>, processor?: number): Promise<{ base: string; stop(): Promise<void> }>;
  tenant(): Promise<Tenant>;
  secrets: { jwtSecret: string; encryptionKey: string };
  dataDir: string;
  close(): Promise<void>;
}

/**
 * Starts `file`, a script and its arguments, with the running Node and resolves with the first match of `ready` in what it prints.
 * @param processor the one it is held to, by `taskset`; any when left out
 */
export async function startProcess(
  file: string,
  env: Record<string, string>,
  ready: RegExp,
  processor?: number,
): Promise<{ child: ChildProcess; match: RegExpExecArray }> {
  const [script = '', ...args] = file.split(' ');
  const own = [process.execPath, join(ROOT, script), ...args];
  const [command = '', ...rest] = processor === undefined ? own : ['taskset', '-c', `${processor}`, ...own];
  const child = spawn(command, rest, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let seen = '';
  const match = await new Promise<RegExpExecArray>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      seen += chunk.toString();
      const found = ready.exec(seen);
      if (found) resolve(found);
    });
    child.on('exit', (code) => reject(new Error(`${file} ended with ${code}: ${seen}`)));
  });
  return { child, match };
}

/** @param server the URL of a server on which a database is made, and dropped by `close` */
export async function openBench(seconds: number, server: string): Promise<Ground> {
  const dataDir = await mkdtemp(join(tmpdir(), 'quartermaster-bench-'));
  const name = `quartermaster_bench_${randomUUID().slice(0, 8)}`;
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  await admin.query(`create database ${name}`);
  const databaseUrl = Object.assign(new URL(server), { pathname: `/${name}` }).href;
  const database = openDatabase({ url: databaseUrl, poolSize: 4, onError: () => undefined });
  await migrate(database.owner, migrationFolders(await loadModules()));
  const secrets = { jwtSecret: randomBytes(32).toString('hex'), encryptionKey: randomBytes(32).toString('hex') };
  const signer = createTokenSigner({ secret: secrets.jwtSecret });
  const children = new Set<ChildProcess>();
  const end = async (child: ChildProcess) => {
    children.delete(child);
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
  };
  let api: Promise<string> | undefined;
  let arranged: Promise<Tenant> | undefined;
  const startApi = async (env: Record<string, string>, processor?: number) => {
    const { child, match } = await startProcess(
      'app/quartermaster.ts start',
      {
        DATABASE_URL: databaseUrl,
        DATA_DIR: dataDir,
        PORT: '0',
        HOST: '127.0.0.1',
        ROLE: 'api',
        ENABLE_2FA: 'false',
        LOG_LEVEL: 'warn',
        NODE_ENV: 'production',
        JWT_SECRET: secrets.jwtSecret,
        APP_ENCRYPTION_KEY: secrets.encryptionKey,
        ...env,
      },
      /is ready: (http\S+)/,
      processor,
    );
    children.add(child);
    return { base: match[1] ?? '', stop: () => end(child) };
  };
  const ground: Ground = {
    seconds,
    server,
    databaseUrl,
    dataDir,
    secrets,
    sql: async (text, values = []) => (await database.owner.query(text, values)).rows,
    signAccess: (claims, lifetime) => signer.sign(claims, lifetime),
    api: () => {
      api ??= startApi({}).then(({ base }) => base);
      return api;
    },
    startApi,
    tenant: () => {
      arranged ??= tenant(ground);
      return arranged;
    },
    async close() {
      await Promise.all([...children].map(end));
      await database.close();
      await admin.query(`drop database if exists ${name} with (force)`);
      await admin.end();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  return ground;
}
