/** Brings the database up to date without starting the platform, or lists what would be applied. */
import { loadConfig } from '#config';
import { migrate, migrationState } from '../core/database/migrations.ts';
import { PackageFaults } from '../core/loader/faults.ts';
import { loadInstallation, migrationFolders } from '../core/loader/load.ts';
import { packageMigrations } from '../core/loader/package-life.ts';
import { withStore } from './store.ts';

const list = (what: string, names: readonly string[]): string =>
  `${names.length} ${what}${names.map((name) => `\n  ${name}`).join('')}\n`;

/** Returns the exit code: 1 when a module package had to be left out. */
export async function migrateDatabase({ dryRun }: { dryRun: boolean }): Promise<number> {
  const config = loadConfig();
  const faults = new PackageFaults(({ sentence }) => process.stderr.write(`Left out: ${sentence}\n`));
  const modules = await loadInstallation(config, faults);
  const folders = migrationFolders(modules);
  await withStore(config, async ({ database: { owner } }) => {
    if (dryRun) {
      const all = [...folders, ...faults.inUse(modules).flatMap(packageMigrations)];
      const { pending, changed, newer } = await migrationState(owner, all);
      process.stdout.write(list('to apply', pending));
      if (newer.length > 0) process.stdout.write(list('applied by a newer version', newer));
      if (changed.length > 0) throw new Error(`Changed after they were applied: ${changed.join(', ')}.`);
      return;
    }
    const applied = await migrate(owner, folders);
    for (const loaded of modules) {
      if (!loaded.package || !faults.inUse(modules).includes(loaded)) continue;
      try {
        applied.push(...(await migrate(owner, packageMigrations(loaded))));
      } catch (error) {
        faults.add(loaded.module.name, loaded.package.name, error);
      }
    }
    process.stdout.write(list('applied', applied));
  });
  return faults.size > 0 ? 1 : 0;
}
