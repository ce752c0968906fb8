/** The commands that modules contribute for operators with a shell on the server. */
import { loadConfig } from '#config';
import { startPlatform } from '#core/start';
import { runUnitOfWork } from '#core/work';
import { EVERYWHERE, NOBODY } from '../../core/context/index.ts';
import type { AdminCommand } from '../../core/contract/index.ts';
import { AppError } from '../../core/errors.ts';
import { loadModules } from '../../core/loader/load.ts';
import { createLog } from '../../core/log.ts';
import { type Form, UsageError } from '../cli/command.ts';
import { usageOf } from '../cli/help.ts';
import { secretsFor } from '../secrets.ts';
import { withStore } from '../store.ts';

async function moduleCommands(): Promise<AdminCommand[]> {
  const modules = await loadModules();
  const contributions = modules.flatMap((loaded) => loaded.contributions.map(({ value }) => value));
  return contributions.filter(({ slot }) => slot === 'admin.command').map(({ value }) => value as AdminCommand);
}

/** The forms of all commands, each after the name of its command, for the help. */
export async function moduleForms(): Promise<Form[]> {
  const commands = await moduleCommands();
  return commands.flatMap(({ name, forms }) =>
    forms.map(({ usage, description }) => ({ usage: `${name} ${usage}`, description })),
  );
}

/** The forms of one command. */
export async function formsOfModuleCommand(name: string): Promise<readonly Form[]> {
  return (await moduleCommands()).find((command) => command.name === name)?.forms ?? [];
}

/**
 * Runs it in one transaction of the platform's role and prints its result. Throws UsageError where no module has the command
 * or the arguments do not fit it.
 */
export async function runModuleCommand(name: string, args: readonly string[]): Promise<void> {
  const command = (await moduleCommands()).find((one) => one.name === name);
  if (!command) throw new UsageError(`No module has the command ${name}.`);
  const result = await runOnPlatform(command, args);
  if (result === null) {
    throw new UsageError(`The arguments fit none of:\n${usageOf(`admin ${name}`, command.forms)}`);
  }
  process.stdout.write(`${result}\n`);
}

async function runOnPlatform(command: AdminCommand, args: readonly string[]): Promise<string | null> {
  const config = loadConfig();
  const log = createLog('warn', process.stderr);
  return withStore(config, async ({ url }) => {
    const secrets = await secretsFor(config, url);
    const platform = await startPlatform({
      config,
      secrets,
      databaseUrl: url,
      log,
      api: false,
      seal: false,
      clocks: false,
    });
    try {
      const actor = { ...NOBODY, kind: 'system' as const, name: 'command line' };
      const role = 'platform' as const;
      const options = { actor, scope: EVERYWHERE, requestId: `admin ${command.name}`, log, role, background: true };
      return await runUnitOfWork(platform.tasks.work, options, (ctx) => command.run(ctx, args));
    } catch (error) {
      throw error instanceof AppError ? new Error(linesOf(error), { cause: error }) : error;
    } finally {
      await platform.stop();
    }
  });
}

/** The code and message of the error, and a line for each detail. */
function linesOf({ code, message, details }: AppError): string {
  const lines = details.map((detail) => `  ${(detail as { message?: string }).message ?? JSON.stringify(detail)}`);
  return [`${code}: ${message}`, ...lines].join('\n');
}
