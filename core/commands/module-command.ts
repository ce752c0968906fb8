/** Commands of modules: `npm run admin -- NAME …`, for whoever has a shell on the server. */
import type { Config } from '#config';
import { EVERYWHERE, NOBODY } from '../context/index.ts';
import type { AdminCommand } from '../contract/index.ts';
import { AppError } from '../errors.ts';
import { loadModules } from '../loader/load.ts';
import { createLog } from '../log.ts';
import { resolveSecrets } from '../secrets.ts';
import { startPlatform } from '../start/index.ts';
import { runUnitOfWork } from '../work/index.ts';
import { openStore } from './store.ts';

async function commandsOfModules(): Promise<AdminCommand[]> {
  const modules = await loadModules();
  const fillings = modules.flatMap((loaded) => loaded.fillings.map(({ value }) => value));
  return fillings.filter(({ slot }) => slot === 'admin.command').map(({ value }) => value as AdminCommand);
}

/** The lines of the usage, for all modules. */
export const usageOfModules = async (): Promise<string[]> =>
  (await commandsOfModules()).flatMap(({ name, usage }) => usage.map((line) => `npm run admin -- ${name} ${line}`));

/** Runs it in one transaction of the platform's role and returns what it has to say; null where there is none, or not so. */
export async function runModuleCommand(config: Config, [name, ...args]: readonly string[]): Promise<string | null> {
  const command = (await commandsOfModules()).find((one) => one.name === name);
  if (!command) return null;
  const store = await openStore(config);
  const log = createLog('warn', process.stderr);
  try {
    const platform = await startPlatform({
      ...{ config, secrets: await resolveSecrets(config), databaseUrl: store.url, log },
      ...{ api: false, seal: false, clocks: false },
    });
    try {
      const actor = { ...NOBODY, kind: 'system' as const, name: 'command line' };
      const options = { actor, scope: EVERYWHERE, requestId: `admin ${name}`, log, role: 'platform' as const };
      return await runUnitOfWork(platform.tasks.work, options, (ctx) => command.run(ctx, args));
    } catch (error) {
      throw error instanceof AppError ? new Error(inWords(error)) : error;
    } finally {
      await platform.stop();
    }
  } finally {
    await store.close();
  }
}

const inWords = ({ code, message, details }: AppError): string =>
  [
    `${code}: ${message}`,
    ...details.map((one) => `  ${(one as { message?: string }).message ?? JSON.stringify(one)}`),
  ].join('\n');
