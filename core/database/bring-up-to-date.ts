/** At the start: migrates the database, or refuses to run on one that is not up to date or needs a newer version. */
import type { Logger } from 'pino';
import { migrate, migrationState } from './migrations.ts';
import { DatabaseSetupError } from './roles.ts';

/** Throws DatabaseSetupError when migrations are missing and may not be applied here, or the database needs a newer version. */
export async function bringUpToDate(
  owner: Parameters<typeof migrate>[0],
  folders: Parameters<typeof migrate>[1],
  autoMigrate: boolean,
  log: Logger,
): Promise<void> {
  if (autoMigrate) {
    const applied = await migrate(owner, folders);
    if (applied.length > 0) log.info({ applied: applied.length }, 'database migrated');
  }
  const state = await migrationState(owner, folders);
  if (state.newer.length > 0) {
    log.warn({ migrations: state.newer }, 'a newer version has migrated this database; this version works with it');
  }
  if (state.pending.length > 0 || state.changed.length > 0) {
    throw new DatabaseSetupError(
      `The database is not up to date (${[...state.pending, ...state.changed].join(', ')}); run npm run migrate.`,
    );
  }
}
