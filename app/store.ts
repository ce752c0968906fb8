/** The database for a command: the configured one, the running embedded server, or that server started for the command alone. */
import type { Config } from '#config';
import { runningServerUrl } from '../core/database/embedded/running.ts';
import { startEmbeddedServer } from '../core/database/embedded/server.ts';
import { type Database, openDatabase } from '../core/database/pools.ts';

export interface Store {
  url: string;
  database: Database;
  close(): Promise<void>;
}

export async function openStore(config: Config): Promise<Store> {
  const known = config.database.url ?? (await runningServerUrl(config.dataDir));
  const embedded = known ? null : await startEmbeddedServer({ dataDir: config.dataDir, log: () => undefined });
  const url = known ?? embedded?.url ?? '';
  const database = openDatabase({
    url,
    appUrl: config.database.appUrl,
    platformUrl: config.database.platformUrl,
    poolSize: 2,
    onError: () => undefined,
  });
  return {
    url,
    database,
    async close() {
      await database.close();
      await embedded?.stop();
    },
  };
}

/** Opens the database, runs, and closes it. */
export async function withStore<T>(config: Config, run: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(config);
  try {
    return await run(store);
  } finally {
    await store.close();
  }
}
