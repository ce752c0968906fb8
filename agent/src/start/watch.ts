/** `agent watchdog`: keeps the main agent running, until it is stopped. */
import { resolve } from 'node:path';
import { createClient } from '../link/client.ts';
import { realMachine } from '../machine.ts';
import { stopSignal } from '../signals.ts';
import { diskJournal } from '../store/journal.ts';
import { fileState } from '../store/state.ts';
import { DEFAULT_TIMING } from '../timing.ts';
import { beginUpdates } from '../update/self-update.ts';
import { AGENT_VERSION } from '../version.ts';
import { RESTART } from '../watchdog/exits.ts';
import { childKeeper, type Keeper, serviceKeeper } from '../watchdog/keeper.ts';
import { runWatchdog } from '../watchdog/watchdog.ts';
import { intervalOf, UsageError, type Values } from './options.ts';
import { beside, installedHere, pulseFile, updateRecord } from './places.ts';
import { exitCode, log } from './run.ts';

/** The exit code. Throws UsageError, or a sentence where the agent is not enrolled. */
export async function watchHere(stateFile: string, values: Values): Promise<number> {
  const intervalSeconds = intervalOf(values);
  const keeper = keeperOf(stateFile, values);
  const installed = values.supervised ? installedHere('watchdog', stateFile) : undefined;
  const updates = installed && (await beginUpdates(installed));
  if (updates?.began === 'returned') return RESTART;
  const store = fileState(stateFile);
  const state = await store.read();
  if (!state) throw new Error(`There is no ${stateFile}; run "enroll" first.`);
  const reason = await runWatchdog({
    call: createClient(state.server, DEFAULT_TIMING.request),
    store,
    keeper,
    version: AGENT_VERSION,
    journalStore: diskJournal(beside(stateFile, 'watchdog-commands')),
    pulseFile: pulseFile(stateFile),
    restartsFile: beside(stateFile, 'restarts.json'),
    record: updateRecord(stateFile),
    machine: realMachine(),
    timing: DEFAULT_TIMING,
    signal: stopSignal(),
    log: (line) => log(`Watchdog: ${line}`),
    intervalSeconds,
    updates: updates?.attach,
  });
  log(`The watchdog ends (${reason}).`);
  return exitCode(reason);
}

function keeperOf(stateFile: string, values: Values): Keeper {
  const { program, service } = values;
  if (service !== undefined && program === undefined) return serviceKeeper(service);
  if (program === undefined || service !== undefined) {
    throw new UsageError('"watchdog" needs --program or --service.');
  }
  const { 'no-power': noPower, 'no-socket': noSocket, interval } = values;
  return childKeeper(resolve(program), [
    'run',
    '--state',
    stateFile,
    '--supervised',
    ...(noPower ? ['--no-power'] : []),
    ...(noSocket ? ['--no-socket'] : []),
    ...(interval === undefined ? [] : ['--interval', interval]),
  ]);
}
