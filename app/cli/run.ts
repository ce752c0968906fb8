/** Runs one command line: help, parsing, errors and exit codes (0 done, 1 failed, 2 wrong arguments). */
import { parseArgs } from 'node:util';
import { ConfigError } from '#config';
import { explain } from '../../core/explain.ts';
import { type Command, type Input, UsageError } from './command.ts';
import { formsOf, helpOf, overview, usageOf } from './help.ts';

const FAILED = 1;
const WRONG_ARGUMENTS = 2;

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
}

/** Returns the exit code; null when the command goes on running. */
export async function runCommandLine(
  commands: ReadonlyMap<string, Command>,
  args: readonly string[],
  terminal: Terminal,
): Promise<number | null> {
  const [name, ...rest] = args;
  if (name === undefined) {
    terminal.err(overview(commands));
    return WRONG_ARGUMENTS;
  }
  if (name === '--help' || name === '-h' || name === 'help') return help(commands, rest[0], terminal);
  const command = commands.get(name);
  if (!command) return unknown(commands, name, terminal);
  try {
    if (command.pass) return await command.pass(rest);
    const { input, wantsHelp } = parseInput(command, rest);
    if (wantsHelp) return help(commands, name, terminal);
    return (await command.run?.(input)) ?? null;
  } catch (error) {
    return failed(name, command, error, terminal);
  }
}

async function help(commands: ReadonlyMap<string, Command>, name: string | undefined, { out }: Terminal) {
  const command = name === undefined ? undefined : commands.get(name);
  out(name !== undefined && command ? await helpOf(name, command) : overview(commands));
  return 0;
}

function unknown(commands: ReadonlyMap<string, Command>, name: string, { err }: Terminal): number {
  err(`Unknown command "${name}". Commands: ${[...commands.keys()].join(', ')}.\nSee quartermaster --help.\n`);
  return WRONG_ARGUMENTS;
}

/** Throws UsageError for an option that the command does not have. */
export function parseInput(command: Command, args: readonly string[]): { input: Input; wantsHelp: boolean } {
  const options: Record<string, { type: 'string' | 'boolean'; short?: string }> = {
    help: { type: 'boolean', short: 'h' },
  };
  for (const [name, { type }] of Object.entries(command.options ?? {})) options[name] = { type };
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const { help: wantsHelp, ...given } = values as Input['values'] & { help?: boolean };
    return { input: { positionals, values: given }, wantsHelp: wantsHelp === true };
  } catch (error) {
    // The second sentence of parseArgs is about its own syntax.
    throw new UsageError(`${(error as Error).message.split('. ')[0]}.`);
  }
}

async function failed(name: string, command: Command, error: unknown, { err }: Terminal): Promise<number> {
  if (error instanceof UsageError) {
    const message = error.message ? `${error.message}\n` : '';
    err(`${message}Usage:\n${usageOf(name, await formsOf(command))}\nSee quartermaster ${name} --help.\n`);
    return WRONG_ARGUMENTS;
  }
  err(`${sentenceOf(error)}\n`);
  return FAILED;
}

/** Errors without a name of their own carry a message for the operator. */
export function sentenceOf(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  return error instanceof Error && error.name === 'Error' ? error.message : explain(error);
}
