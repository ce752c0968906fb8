/** Starts and stops the PostgreSQL that Quartermaster brings along, for those who give no DATABASE_URL. */
import { realpath } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { makeDataFolder } from '../../data-folder.ts';
import { SESSION_SETTINGS } from '../connections/session-settings.ts';
import { findBinaries } from './binaries.ts';
import { keepPassword, OWNER, prepareCluster } from './cluster.ts';
import { codeOf, EmbeddedServerError, fileFault, PortTakenError } from './error.ts';
import { takeLock } from './lock.ts';
import { endLeftovers, launch, type ServerProcess } from './process.ts';
import { chooseUser } from './user.ts';

export { EmbeddedServerError } from './error.ts';

const DATABASE = 'quartermaster';

/** Fit for a small server; `settings` overrides them one by one. */
const DEFAULTS: Record<string, string> = {
  ...SESSION_SETTINGS,
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '256MB',
  effective_cache_size: '1GB',
  maintenance_work_mem: '128MB',
  max_wal_size: '2GB',
  wal_compression: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
};

/** How to start the embedded server. */
export interface EmbeddedServerOptions {
  /** Holds the folder `postgres` and the file `postgres-password`; made when missing. */
  dataDir: string;
  /** Port on 127.0.0.1; 0 or nothing = a free one. */
  port?: number;
  /** Takes what PostgreSQL says, line by line. */
  log: (line: string) => void;
  /** PostgreSQL settings over the defaults, such as `{ fsync: 'off' }` in tests. */
  settings?: Record<string, string>;
}

/** A running embedded server, held by this process alone. */
export interface EmbeddedServer {
  /** Connection URL of the database owner; it has the password in it. */
  url: string;
  port: number;
  /** True when this start made the database. */
  firstStart: boolean;
  /** Resolves when the server ended without being stopped (killed, out of memory); never otherwise. */
  lost: Promise<void>;
  /** Fast shutdown; resolves when the server has ended (at most 30 s, then it is killed). May be called again. */
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL 18 on `dataDir/postgres` and waits until its database `quartermaster` takes connections. What a
 * killed process left running there is stopped first.
 * @throws {DataFolderError} the data folder cannot be made or written
 * @throws {EmbeddedServerError} one sentence: in use by a live process, port taken, …
 */
export async function startEmbeddedServer(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const { log } = options;
  await makeDataFolder(options.dataDir);
  const dataDir = await realpath(options.dataDir);
  const folder = join(dataDir, 'postgres');
  const user = await chooseUser(folder);
  const binaries = await findBinaries(user);
  const unlock = await takeLock(join(dataDir, 'postgres.lock'));
  let server: ServerProcess | undefined;
  try {
    const password = await keepPassword(join(dataDir, 'postgres-password'));
    await prepareCluster(folder, password, binaries, user);
    await endLeftovers(folder, log);
    const settings = { ...DEFAULTS, ...options.settings };
    const started = await launchOnPort(options.port, (port) => launch({ folder, binaries, user, port, settings, log }));
    server = started.server;
    const { port } = started;
    const url = `postgres://${OWNER}:${password}@127.0.0.1:${port}/${DATABASE}`;
    const firstStart = await makeDatabase(url, join(dataDir, 'postgres-password'));
    const running = server;
    let stopped: Promise<void> | undefined;
    const stop = () => {
      stopped ??= running.stop().then(unlock);
      return stopped;
    };
    return { url, port, firstStart, lost: running.lost, stop };
  } catch (error) {
    await server?.stop();
    await unlock();
    throw error;
  }
}

/** Launches on the given port, or on a free one; should someone else take that one meanwhile, on another. */
async function launchOnPort(given: number | undefined, start: (port: number) => Promise<ServerProcess>) {
  for (let attempt = 1; ; attempt++) {
    const port = given || (await freePort());
    try {
      return { port, server: await start(port) };
    } catch (error) {
      if (given || attempt === 3 || !(error instanceof PortTakenError)) throw error;
    }
  }
}

/** A port that was free a moment ago. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}

/** Makes the database unless it is there; true when it was made. A start that was cut off before is made up for. */
async function makeDatabase(url: string, passwordFile: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: new URL('/postgres', url).href });
  try {
    await client.connect();
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
    return rowCount === 0;
  } catch (error) {
    if (codeOf(error) === '28P01') {
      throw new EmbeddedServerError(`The password in ${passwordFile} is not the one that the database has.`);
    }
    throw fileFault('prepare the embedded database', error);
  } finally {
    await client.end().catch(() => undefined);
  }
}
