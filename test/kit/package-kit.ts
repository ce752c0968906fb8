/** The kit for a module package's own tests (`@quartermaster/module-kit/test`): a platform that has the package. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startTestPlatform as start, type TestPlatform } from './platform.ts';
import { dropAll, makeTemplate, openServer, type TestServer } from './server.ts';

export * from './actors.ts';

interface TestDatabaseServer {
  server: TestServer;
  template: string;
}
/** The database server of the process: it starts with the first platform and stops with the last. */
let database: Promise<TestDatabaseServer> | null = null;
let platforms = 0;

async function openDatabaseServer(): Promise<TestDatabaseServer> {
  const server = await openServer();
  const template = await makeTemplate(server.url);
  Object.assign(process.env, { QUARTERMASTER_TEST_SERVER: server.url, QUARTERMASTER_TEST_TEMPLATE: template });
  return { server, template };
}

async function leave(): Promise<void> {
  platforms -= 1;
  if (platforms > 0 || !database) return;
  const { server, template } = await database;
  database = null;
  await dropAll(server.url, template);
  await server.stop();
}

/**
 * A platform in this process with the package of the working folder; stop it when the tests are over. Throws with what is
 * wrong with the package, where something is.
 * @param env variables of the server, on top of the kit's own
 * @param folder the package's, where that is not the working folder; or where `MODULE_PACKAGES` of `env` are installed
 */
export async function startTestPlatform(
  env: Record<string, string> = {},
  folder: string = process.cwd(),
): Promise<TestPlatform> {
  const { name } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { name: string };
  platforms += 1;
  database ??= openDatabaseServer();
  let platform: TestPlatform | undefined;
  try {
    await database;
    platform = await start({ MODULE_PACKAGES: name, MODULE_PACKAGES_DIR: folder, ...env });
    const { modules } = platform.platform.tasks.work.services;
    const faults = modules.all.flatMap((module) => modules.fault(module.name) ?? []);
    if (faults.length > 0) throw new Error(faults.join('\n'));
  } catch (error) {
    await platform?.stop();
    await leave();
    throw error;
  }
  const running = platform;
  return {
    ...running,
    async stop() {
      await running.stop();
      await leave();
    },
  };
}
