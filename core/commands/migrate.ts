/** `npm run migrate [-- --dry-run]`: brings the database up to date without starting the platform. */
import { parseArgs } from 'node:util';
import { loadConfig } from '#config';
import { migrate, migrationState } from '../database/migrations.ts';
import { explain } from '../explain.ts';
import { loadModules, migrationFolders } from '../platform.ts';
import { openStore } from './store.ts';

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean' } } });
  const config = loadConfig();
  const folders = migrationFolders(await loadModules(config));
  const store = await openStore(config);
  try {
    if (values['dry-run']) {
      const { pending, changed } = await migrationState(store.database.owner, folders);
      process.stdout.write(`${pending.length} to apply${pending.map((name) => `\n  ${name}`).join('')}\n`);
      if (changed.length > 0) throw new Error(`Changed after they were applied: ${changed.join(', ')}.`);
      return;
    }
    const applied = await migrate(store.database.owner, folders);
    process.stdout.write(`${applied.length} applied${applied.map((name) => `\n  ${name}`).join('')}\n`);
  } finally {
    await store.close();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  process.exit(1);
});
