/** The command line of the reference agent. */
import { resolve } from 'node:path';
import { enrollHere } from './start/enroll.ts';
import { leaveHere } from './start/leave.ts';
import { HELP, readArguments, UsageError, type Values } from './start/options.ts';
import { runHere } from './start/run.ts';
import { watchHere } from './start/watch.ts';
import { AGENT_VERSION } from './version.ts';

const COMMANDS: Record<string, (stateFile: string, values: Values) => Promise<number>> = {
  enroll: enrollHere,
  run: runHere,
  watchdog: watchHere,
  uninstall: leaveHere,
  version: async () => {
    console.log(AGENT_VERSION);
    return 0;
  },
};

async function main(): Promise<number> {
  const { positionals, values } = readArguments();
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const command = positionals.length === 1 ? COMMANDS[positionals[0] ?? ''] : undefined;
  if (!command) {
    const known = Object.keys(COMMANDS).join(', ');
    throw new UsageError(
      positionals.length > 0 ? `"${positionals.join(' ')}" is none of: ${known}.` : `Say one of: ${known}.`,
    );
  }
  return command(resolve(values.state), values);
}

main().then(
  // Requests that were given up on must not hold the process.
  (code) => process.exit(code),
  (fault) => {
    console.error(fault instanceof Error ? fault.message : String(fault));
    if (fault instanceof UsageError) console.error('See --help.');
    process.exit(fault instanceof UsageError ? 2 : 1);
  },
);
