/** Starts the process in its role: database, platform, workers; a signal stops them in reverse. */
import type { Logger } from 'pino';
import type { Config } from '#config';
import { type Platform, startPlatform } from '#core/start';
import { limitHashing } from '../core/auth/passwords.ts';
import { bootstrapSystemUser } from '../core/auth/system-user.ts';
import { makeDataFolder } from '../core/data-folder.ts';
import { startEmbeddedServer } from '../core/database/embedded/server.ts';
import type { Database } from '../core/database/pools.ts';
import { startMetricsServer } from '../core/http/metrics/server.ts';
import { createLog } from '../core/log.ts';
import { Stoppers } from '../core/start/stoppers.ts';
import { startWorkers } from '../workers/index.ts';
import { loadConfiguration } from './configuration.ts';
import { secretsFor } from './secrets.ts';

/** Milliseconds after a signal in which everything must have stopped. */
const STOP_MS = 40_000;
/** Milliseconds between two questions whether the database answers, during a stop. */
const ASK_MS = 2_000;

/** Runs until a signal stops the process. Rejects when the start fails, after stopping what had started. */
export async function startProcess(): Promise<void> {
  const config = await loadConfiguration();
  limitHashing({ threadPoolSize: config.threadPoolSize });
  await makeDataFolder(config.dataDir);
  const log = createLog(config.logLevel);
  const stoppers = new Stoppers(log);
  let platform: Platform;
  try {
    platform = await startAll(config, log, stoppers);
  } catch (error) {
    await stoppers.stopAll();
    throw error;
  }
  stopOnSignals(stoppers, platform.tasks.work.database, log);
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
  process.stdout.write(greeting(config, platform.url));
}

async function startAll(config: Config, log: Logger, stoppers: Stoppers): Promise<Platform> {
  const databaseUrl = config.database.url ?? (await startDatabaseServer(config, log, stoppers));
  const secrets = await secretsFor(config, databaseUrl);
  const works = config.role !== 'api';
  const platform = await startPlatform({
    config,
    secrets,
    databaseUrl,
    log,
    api: config.role !== 'worker',
    seal: works,
  });
  stoppers.add('the platform', () => platform.stop());
  await bootstrapAdministrator(config, platform.tasks.work.database.platform, log);
  const { metricsPort, metricsToken, host } = config.http;
  if (metricsPort) {
    const server = await startMetricsServer(platform.metrics, { host, port: metricsPort, token: metricsToken });
    stoppers.add('the metrics server', () => server.stop());
  }
  if (works) {
    const { concurrency } = config.workers;
    const workers = await startWorkers(platform.tasks, {
      concurrency,
      version: config.version,
      metrics: platform.metrics,
    });
    stoppers.add('the workers', () => workers.stop());
  }
  return platform;
}

/** Starts the embedded PostgreSQL server and returns its URL. */
async function startDatabaseServer(config: Config, log: Logger, stoppers: Stoppers): Promise<string> {
  const server = await startEmbeddedServer({
    dataDir: config.dataDir,
    port: config.database.embeddedPort,
    log: (line) => log.debug({ postgres: true }, line),
  });
  stoppers.add('the embedded PostgreSQL', () => server.stop());
  // The supervisor starts this process again, and with it the database, which recovers what was committed.
  void server.lost.then(() => {
    process.stderr.write('The embedded PostgreSQL ended unexpectedly; stopping.\n');
    process.exit(1);
  });
  return server.url;
}

async function bootstrapAdministrator(
  { identity: { bootstrapAdmin } }: Config,
  pool: Parameters<typeof bootstrapSystemUser>[0],
  log: Logger,
): Promise<void> {
  if (bootstrapAdmin && (await bootstrapSystemUser(pool, bootstrapAdmin))) {
    log.info({ email: bootstrapAdmin.email }, 'created the first system administrator from the configuration');
  }
}

function stopOnSignals(stoppers: Stoppers, database: Database, log: Logger): void {
  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    setTimeout(() => process.exit(1), STOP_MS);
    // What stops writes to the database: a silent one must not use up the time of the rest.
    const ask = () => void database.endIfSilent();
    ask();
    setInterval(ask, ASK_MS);
    void stoppers.stopAll().then((clean) => process.exit(clean ? 0 : 1));
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
}

function greeting(config: Config, url: string): string {
  const lines = [
    url ? `Quartermaster ${config.version} is ready: ${url}` : `Quartermaster ${config.version} worker is ready`,
    config.database.url ? `Data: the external database, and ${config.dataDir}` : `Data: ${config.dataDir}`,
    'First system administrator: npm run admin -- create-system-user --email you@example.com',
  ];
  if (url) lines.push(`API description: ${url}/docs`);
  return `${lines.join('\n')}\n`;
}
