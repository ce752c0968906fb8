/** `npm run migrate [-- --dry-run]`: brings the database up to date without starting the platform. */
import { parseArgs } from 'node:util';
import { loadConfig } from '#config';
import { migrate, migrationState } from '../database/migrations.ts';
import { explain } from '../explain.ts';
import { PackageFaults } from '../loader/faults.ts';
import { loadInstallation, migrationFolders } from '../loader/load.ts';
import { packageMigrations } from '../loader/package-life.ts';
import { openStore } from './store.ts';

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean' } } });
  const config = loadConfig();
  const faults = new PackageFaults(({ sentence }) => {
    process.stderr.write(`Left out: ${sentence}\n`);
    process.exitCode = 1;
  });
  const modules = await loadInstallation(config, faults);
  const folders = migrationFolders(modules);
  const store = await openStore(config);
  try {
    if (values['dry-run']) {
      const all = [...folders, ...faults.inUse(modules).flatMap(packageMigrations)];
      const { pending, changed } = await migrationState(store.database.owner, all);
      process.stdout.write(`${pending.length} to apply${pending.map((name) => `\n  ${name}`).join('')}\n`);
      if (changed.length > 0) throw new Error(`Changed after they were applied: ${changed.join(', ')}.`);
      return;
    }
    const applied = await migrate(store.database.owner, folders);
    for (const loaded of modules) {
      if (!loaded.package || !faults.inUse(modules).includes(loaded)) continue;
      const { module, package: place } = loaded;
      try {
        applied.push(...(await migrate(store.database.owner, packageMigrations(loaded))));
      } catch (error) {
        faults.add(module.name, place.name, error);
      }
    }
    process.stdout.write(`${applied.length} applied${applied.map((name) => `\n  ${name}`).join('')}\n`);
  } finally {
    await store.close();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(1);
});
