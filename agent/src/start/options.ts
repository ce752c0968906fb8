/** What the command line of the agent understands. */
import { parseArgs } from 'node:util';

export const HELP = `Usage:
  agent enroll --server URL (--key-file FILE | --key KEY) [--secret-file FILE | --secret S] [--device-role ROLE]
               [--state FILE] [--reenroll]
  agent run [--state FILE] [--interval SECONDS] [--no-power] [--no-socket] [--supervised]
  agent watchdog [--state FILE] (--program FILE | --service NAME) [--no-power] [--supervised]
  agent uninstall [--state FILE]
  agent version

  uninstall           only tells the server that this agent is being removed

  --server URL        the server, such as http://127.0.0.1:3000
  --key-file FILE     a file with an enrollment key; arguments can be read by everybody on this machine
  --key KEY           an enrollment key
  --secret-file FILE  a file with the enrollment secret, where the server asks for one
  --secret S          the enrollment secret
  --device-role ROLE  what this machine is: workstation, server, ...
  --state FILE        where the agent remembers who it is (default .agent/state.json)
  --reenroll          enroll again as the device that the state file names
  --interval SECONDS  interval of heartbeats, overriding the server
  --no-socket         ask for commands now and then instead of staying connected
  --no-power          refuse commands that restart, shut down or lock this machine
  --supervised        a service restarts this program when it exits with 75, so it may update itself
  --program FILE      the watchdog starts this program as the agent and keeps it running
  --service NAME      the agent is this service of systemd or launchd, and the watchdog only helps

Exit codes: 0 stopped or uninstalled, 1 failed, 2 wrong usage, 3 the server no longer knows this device, 75 start it again.`;

/** Wrong usage: reported with a hint at the help. */
export class UsageError extends Error {}

/** Throws UsageError for what is not in the help. */
export function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        server: { type: 'string' },
        key: { type: 'string' },
        'key-file': { type: 'string' },
        secret: { type: 'string' },
        'secret-file': { type: 'string' },
        'device-role': { type: 'string' },
        state: { type: 'string', default: '.agent/state.json' },
        reenroll: { type: 'boolean', default: false },
        interval: { type: 'string' },
        'no-power': { type: 'boolean', default: false },
        // Units of earlier installations may carry it; it is the default now.
        'allow-power': { type: 'boolean', default: false },
        'no-socket': { type: 'boolean', default: false },
        supervised: { type: 'boolean', default: false },
        program: { type: 'string' },
        service: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (fault) {
    throw new UsageError(fault instanceof Error ? fault.message : String(fault));
  }
}

export type Values = ReturnType<typeof readArguments>['values'];

/** Seconds, where some are given. */
export function intervalOf({ interval }: Values): number | undefined {
  if (interval === undefined) return undefined;
  const seconds = Number(interval);
  if (!(seconds > 0)) throw new UsageError('--interval is a number of seconds.');
  return seconds;
}
