/** Starts the process: configuration, database, platform, workers; stops them in reverse on a signal. */

import type { Logger } from 'pino';
import { type Config, ConfigError, loadConfig } from '#config';
import { limitHashing } from './auth/passwords.ts';
import { bootstrapSystemUser } from './auth/system-user.ts';
import { type EmbeddedServer, startEmbeddedServer } from './database/embedded/server.ts';
import { explain } from './explain.ts';
import { startMetricsServer } from './http/metrics-server.ts';
import { createLog } from './log.ts';
import { resolveSecrets } from './secrets.ts';
import { type Platform, startPlatform } from './start/index.ts';

interface Running {
  url: string;
  stop(): Promise<void>;
}

/** The database to use: the configured one, or the embedded server's. */
async function openStore(config: Config, log: Logger): Promise<{ url: string; embedded: EmbeddedServer | null }> {
  if (config.database.url) return { url: config.database.url, embedded: null };
  const embedded = await startEmbeddedServer({
    dataDir: config.dataDir,
    port: config.database.embeddedPort,
    log: (line) => log.debug({ postgres: true }, line),
  });
  return { url: embedded.url, embedded };
}

async function start(config: Config, log: Logger): Promise<Running> {
  const secrets = await resolveSecrets(config);
  const store = await openStore(config, log);
  // Whoever supervises this process starts it again, and with it the database, which then recovers what was committed.
  void store.embedded?.lost.then(() => {
    process.stderr.write('The embedded PostgreSQL ended unexpectedly; stopping.\n');
    process.exit(1);
  });
  let platform: Platform | null = null;
  try {
    const works = config.role !== 'api';
    platform = await startPlatform({
      config,
      secrets,
      databaseUrl: store.url,
      log,
      api: config.role !== 'worker',
      seal: works,
    });
    const { database } = platform.tasks.work;
    if (
      config.identity.bootstrapAdmin &&
      (await bootstrapSystemUser(database.platform, config.identity.bootstrapAdmin))
    ) {
      log.info(
        { email: config.identity.bootstrapAdmin.email },
        'first system administrator made from the configuration',
      );
    }
    // Core knows no workers; this wiring is the one place where the rooms meet.
    const { startWorkers } = (await import('../workers/main.ts')) as typeof import('../workers/main.ts');
    const workers = works
      ? await startWorkers(platform.tasks, {
          concurrency: config.workers.concurrency,
          version: config.version,
          metrics: platform.metrics,
        })
      : null;
    const running = platform;
    const { metricsPort, metricsToken, host } = config.http;
    const scraped = metricsPort
      ? await startMetricsServer(platform.metrics, { host, port: metricsPort, token: metricsToken })
      : null;
    return {
      url: running.url,
      async stop() {
        await workers?.stop();
        await scraped?.stop();
        await running.stop();
        await store.embedded?.stop();
      },
    };
  } catch (error) {
    await platform?.stop().catch(() => undefined);
    await store.embedded?.stop().catch(() => undefined);
    throw error;
  }
}

function greet(config: Config, url: string): void {
  const lines = [
    url ? `Quartermaster ${config.version} is ready: ${url}` : `Quartermaster ${config.version} worker is ready`,
    config.database.url ? `Data: the external database, and ${config.dataDir}` : `Data: ${config.dataDir}`,
    'First system administrator: npm run admin -- create-system-user --email you@example.com',
    ...(url ? [`API description: ${url}/docs`] : []),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

async function main(): Promise<void> {
  const config = loadConfig();
  limitHashing({ threadPoolSize: config.threadPoolSize });
  const log = createLog(config.logLevel);
  const running = await start(config, log);
  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    const hard = setTimeout(() => process.exit(1), 40_000);
    running.stop().then(
      () => {
        clearTimeout(hard);
        process.exit(0);
      },
      (error) => {
        log.error({ err: error }, 'did not stop cleanly');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
  greet(config, running.url);
}

if (import.meta.main) {
  main().catch((error: unknown) => {
    process.stderr.write(`${error instanceof ConfigError ? error.message : explain(error)}\n`);
    process.exit(1);
  });
}
