/** `quartermaster <command>`: finds the command, runs it, and turns its result into an exit code. */
import { findCommands } from './cli/find.ts';
import { runCommandLine } from './cli/run.ts';

/** @param args after the name of the program; exits the process unless the command goes on running */
export async function main(args: readonly string[]): Promise<void> {
  const code = await runCommandLine(await findCommands(), args, {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
  });
  if (code !== null) process.exit(code);
}

if (import.meta.main) await main(process.argv.slice(2));
