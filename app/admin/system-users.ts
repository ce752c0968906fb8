/** Creates a system administrator from the command line. */
import { loadConfig } from '#config';
import { createSystemUser } from '../../core/auth/system-user.ts';
import { migrate } from '../../core/database/migrations.ts';
import { loadModules, migrationFolders } from '../../core/loader/load.ts';
import { withStore } from '../store.ts';
import { askPassword } from './password.ts';

export async function createAdministrator({
  email,
  name,
}: {
  email: string;
  name?: string | undefined;
}): Promise<void> {
  const config = loadConfig();
  const password = await askPassword();
  await withStore(config, async ({ database }) => {
    if (config.database.autoMigrate) await migrate(database.owner, migrationFolders(await loadModules()));
    const user = { email, password, via: 'command line', ...(name ? { name } : {}) };
    const id = await createSystemUser(database.platform, user);
    process.stdout.write(`System administrator ${email} created (${id}).\n`);
  });
}
