/** The database for a command: the configured one, the running embedded server, or that server started for the command alone. */
import type { Config } from '#config';
import { runningServerUrl } from '../database/embedded-running.ts';
import { startEmbeddedServer } from '../database/embedded-server.ts';
import { type Database, openDatabase } from '../database/pools.ts';

export interface Store {
  database: Database;
  close(): Promise<void>;
}

export async function openStore(config: Config): Promise<Store> {
  const url = config.database.url ?? (await runningServerUrl(config.dataDir));
  const embedded = url ? null : await startEmbeddedServer({ dataDir: config.dataDir, log: () => undefined });
  const database = openDatabase({
    url: url ?? embedded?.url ?? '',
    appUrl: config.database.appUrl,
    platformUrl: config.database.platformUrl,
    poolSize: 2,
    onError: () => undefined,
  });
  return {
    database,
    async close() {
      await database.close();
      await embedded?.stop();
    },
  };
}
