/** Opens the database, brings it up to date, and starts what writes to it in batches. */
import { type Attempts, openAttempts } from '../audit/attempts.ts';
import { type Batches, openBatches } from '../database/batches.ts';
import { bringUpToDate } from '../database/bring-up-to-date.ts';
import { type Database, openDatabase } from '../database/pools.ts';
import { keepFingerprints, mustBeSame, readFingerprints } from '../database/secret-fingerprints.ts';
import { makePartitions } from '../database/upkeep.ts';
import type { Metrics } from '../http/metrics/metrics.ts';
import { readFigures } from '../jobs/figures.ts';
import { migrationFolders } from '../loader/load.ts';
import { migratePackages } from '../loader/package-life.ts';
import type { LoadedModule } from '../loader/read-module.ts';
import { secretSources } from '../secrets.ts';
import type { Installation } from './modules.ts';
import type { PlatformOptions } from './options.ts';
import type { Stoppers } from './stoppers.ts';

export interface StartedDatabase {
  database: Database;
  /** Those of the installation; a package whose migrations failed has nothing but its name. */
  modules: LoadedModule[];
  attempts: Attempts;
  batches: Batches;
}

export async function startDatabase(
  { config, secrets, databaseUrl, log }: PlatformOptions,
  { modules: found, faults }: Installation,
  metrics: Metrics,
  stoppers: Stoppers,
): Promise<StartedDatabase> {
  const { appUrl, platformUrl, poolSize, autoMigrate } = config.database;
  const database = openDatabase({
    url: databaseUrl,
    appUrl,
    platformUrl,
    poolSize,
    onError: (error) => log.warn({ err: error }, 'an idle database connection broke'),
    onWait: metrics.poolWait,
  });
  stoppers.add('the database', () => database.close());
  const { owner, app, platform } = database;
  metrics.watchDatabase({ owner, app, platform }, () => readFigures(platform));
  mustBeSame(await readFingerprints(owner), secrets, secretSources(config));
  await bringUpToDate(owner, migrationFolders(found), autoMigrate, log);
  await keepFingerprints(owner, secrets);
  // Another process may have begun with other secrets at the same moment.
  mustBeSame(await readFingerprints(owner), secrets, secretSources(config));
  const modules = await migratePackages(owner, found, { faults, autoMigrate, log });
  // A connection of each pool, so that one in the wrong role stops the start.
  await Promise.all([app, platform].map((pool) => pool.query('select 1')));
  await makePartitions(platform);
  return { database, modules, attempts: openAttempts(platform, log), batches: openBatches(platform) };
}
