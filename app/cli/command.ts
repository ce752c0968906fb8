/** What a file of app/commands declares: one command of the command line. */

export interface Option {
  type: 'string' | 'boolean';
  /** The name of the value in the help: `--owner OWNER`. */
  value?: string;
  /** One line of help, without a full stop. */
  description: string;
}

/** One way to call a command. */
export interface Form {
  /** What follows the name of the command: `export --owner OWNER --out FILE`. */
  usage: string;
  /** One sentence of help. */
  description: string;
}

export interface Input {
  positionals: readonly string[];
  values: Readonly<Record<string, string | boolean | undefined>>;
}

export interface Command {
  /** One line for the list of commands, without a full stop. */
  summary: string;
  /** A paragraph for the help of the command. */
  description?: string;
  forms: readonly Form[];
  options?: Readonly<Record<string, Option>>;
  /** Complete command lines, without the name of the program. */
  examples: readonly string[];
  /** Further forms that are known at run time. */
  moreForms?(): Promise<readonly Form[]>;
  /**
   * Returns the exit code, or null when the process goes on until it is stopped.
   * Throws UsageError when the arguments fit no form.
   */
  run?(input: Input): Promise<number | null>;
  /** Instead of `run`, for a program with options of its own: receives every argument after the name, also `--help`. */
  pass?(args: readonly string[]): Promise<number | null>;
}

/** Thrown for arguments that fit no form of a command: exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

export const defineCommand = (command: Command): Command => command;

/** The value of an option that takes text. */
export function textOf({ values }: Input, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}
