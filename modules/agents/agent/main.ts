/** The command line of the reference agent. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { apiBase, createClient } from './client.ts';
import { readJournal } from './collect/system-events.ts';
import { HANDLERS } from './commands/handlers.ts';
import { enroll, enrollmentFault } from './enrollment.ts';
import { fileSpool } from './event-spool.ts';
import { diskJournal } from './journal.ts';
import { runAgent } from './loop.ts';
import { realMachine } from './machine.ts';
import { stopSignal } from './signals.ts';
import { socketOpener } from './socket.ts';
import { fileState } from './state.ts';
import { DEFAULT_TIMING } from './timing.ts';

const HELP = `Usage:
  agent enroll --server URL --key KEY [--secret S] [--state FILE] [--reenroll]
  agent run [--state FILE] [--interval SECONDS] [--allow-power] [--no-socket]

  --server URL        the server, such as http://127.0.0.1:3000
  --key KEY           an enrollment key
  --secret S          the enrollment secret, where the server asks for one
  --state FILE        where the agent remembers who it is (default .agent/state.json)
  --reenroll          enroll again as the device that the state file names
  --interval SECONDS  beat this often whatever the server says
  --no-socket         ask for commands now and then instead of staying connected
  --allow-power       obey commands that restart, shut down or lock this machine

Exit codes: 0 stopped or uninstalled, 1 failed, 2 wrong usage, 3 the server no longer knows this device.`;

/** Wrong usage: reported with a hint at the help. */
class UsageError extends Error {}

async function main(): Promise<number> {
  const { positionals, values } = readArguments();
  const [command] = positionals;
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const stateFile = resolve(values.state);
  if (command === 'enroll' && positionals.length === 1) return enrollHere(stateFile, values);
  if (command === 'run' && positionals.length === 1) return runHere(stateFile, values);
  throw new UsageError(command ? `"${positionals.join(' ')}" is not "enroll" or "run".` : 'Say "enroll" or "run".');
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        server: { type: 'string' },
        key: { type: 'string' },
        secret: { type: 'string' },
        state: { type: 'string', default: '.agent/state.json' },
        reenroll: { type: 'boolean', default: false },
        interval: { type: 'string' },
        'allow-power': { type: 'boolean', default: false },
        'no-socket': { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (fault) {
    throw new UsageError(fault instanceof Error ? fault.message : String(fault));
  }
}

type Values = ReturnType<typeof readArguments>['values'];

async function enrollHere(stateFile: string, { server, key, secret, reenroll }: Values): Promise<number> {
  if (!server || !key) throw new UsageError('"enroll" needs --server and --key.');
  const base = new URL(apiBase(server));
  if (base.protocol === 'http:' && !['127.0.0.1', 'localhost', '[::1]'].includes(base.hostname)) {
    console.error(`Warning: tokens and commands travel to ${base.host} unencrypted; use https beyond a trial.`);
  }
  const store = fileState(stateFile);
  const existing = await store.read();
  if (existing && !reenroll) {
    throw new Error(`${stateFile} already holds the device ${existing.deviceId}; add --reenroll to enroll it again.`);
  }
  if (!existing && reenroll) throw new Error(`There is no ${stateFile} to enroll again from.`);
  try {
    const client = createClient(server, DEFAULT_TIMING.request);
    const state = await enroll(client, realMachine(), { server, key, secret, oldToken: existing?.tokens.authToken });
    await store.write(state);
    console.log(`Enrolled as device ${state.deviceId}; the state is in ${stateFile}.`);
    return 0;
  } catch (fault) {
    throw new Error(enrollmentFault(fault));
  }
}

async function runHere(stateFile: string, values: Values): Promise<number> {
  const intervalSeconds = values.interval === undefined ? undefined : Number(values.interval);
  if (intervalSeconds !== undefined && !(intervalSeconds > 0))
    throw new UsageError('--interval is a number of seconds.');
  const store = fileState(stateFile);
  const state = await store.read();
  if (!state) throw new Error(`There is no ${stateFile}; run "enroll" first.`);
  const log = (line: string): void => console.log(`${new Date().toISOString()} ${line}`);
  const reason = await runAgent({
    call: createClient(state.server, DEFAULT_TIMING.request),
    ...(values['no-socket'] ? {} : { openSocket: socketOpener(state.server) }),
    store,
    // Beside the state file and named after it, so that two agents in one folder do not share a journal.
    journalStore: diskJournal(`${stateFile.replace(/\.json$/, '')}-commands`),
    systemEvents: { read: readJournal, store: fileSpool(`${stateFile.replace(/\.json$/, '')}-events.json`) },
    machine: realMachine(),
    handlers: HANDLERS,
    timing: DEFAULT_TIMING,
    signal: stopSignal(),
    log,
    allowPower: values['allow-power'],
    intervalSeconds,
  });
  if (reason === 'uninstalled') log(`The agent was uninstalled; ${stateFile} is deleted.`);
  if (reason === 'stopped') log('The agent stopped.');
  return reason === 'gone' ? 3 : 0;
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
