/** `agent run`: the main agent, until it is stopped. */
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isSea } from 'node:sea';
import { readJournal } from '../collect/system-events.ts';
import { HANDLERS } from '../commands/handlers.ts';
import { toolHandlers } from '../commands/tools.ts';
import { createClient } from '../link/client.ts';
import { socketOpener } from '../link/socket.ts';
import { createTransfers } from '../link/transfer.ts';
import { runAgent } from '../loop.ts';
import { realMachine } from '../machine.ts';
import { askSystem } from '../process/ask.ts';
import { installedStateFolder, removalOf } from '../removal.ts';
import { stopSignal } from '../signals.ts';
import { ensurePrivateFolder } from '../store/atomic-file.ts';
import { fileSpool } from '../store/event-spool.ts';
import { diskJournal } from '../store/journal.ts';
import { Pulse } from '../store/pulse.ts';
import { fileState } from '../store/state.ts';
import { DEFAULT_TIMING } from '../timing.ts';
import { toolsHere } from '../tools/system.ts';
import { beginUpdates } from '../update/self-update.ts';
import { AGENT_VERSION } from '../version.ts';
import { GONE, RESTART } from '../watchdog/exits.ts';
import { intervalOf, type Values } from './options.ts';
import { beside, installedHere, pulseFile } from './places.ts';

export const log = (line: string): void => console.log(`${new Date().toISOString()} ${line}`);

/** The exit code. Throws a sentence where the agent is not enrolled. */
export async function runHere(stateFile: string, values: Values): Promise<number> {
  const intervalSeconds = intervalOf(values);
  // Before anything that a new version might fail at: that this begin counts.
  const installed = values.supervised ? installedHere('agent', stateFile) : undefined;
  const updates = installed && (await beginUpdates(installed));
  if (updates?.began === 'returned') {
    log(`Version ${AGENT_VERSION} did not get through; the one before is back.`);
    return RESTART;
  }
  const store = fileState(stateFile);
  const state = await store.read();
  if (!state) throw new Error(`There is no ${stateFile}; run "enroll" first.`);
  const customFields = resolve(beside(stateFile, 'custom-fields'));
  await ensurePrivateFolder(customFields);
  const remove = isSea() ? removalOf(process.execPath, process.platform, askSystem) : undefined;
  const pulse = new Pulse(pulseFile(stateFile), AGENT_VERSION, DEFAULT_TIMING.pulse);
  const reason = await runAgent({
    call: createClient(state.server, DEFAULT_TIMING.request),
    transfers: createTransfers(state.server),
    ...(values['no-socket'] ? {} : { openSocket: socketOpener(state.server) }),
    store,
    journalStore: diskJournal(beside(stateFile, 'commands')),
    systemEvents: { read: readJournal, store: fileSpool(beside(stateFile, 'events.json')) },
    customFields,
    machine: realMachine(),
    handlers: new Map([...HANDLERS, ...toolHandlers(toolsHere([stateFile.replace(/\.json$/, '')]))]),
    timing: DEFAULT_TIMING,
    signal: stopSignal(),
    log,
    allowPower: !values['no-power'],
    intervalSeconds,
    pulse,
    updates: updates?.attach,
    ...(remove && { remove }),
  });
  await pulse.end(reason === 'stopped');
  if (reason === 'uninstalled') {
    await rm(pulseFile(stateFile), { force: true });
    await rm(customFields, { recursive: true, force: true });
    const folder = remove && installedStateFolder(stateFile);
    if (folder) await rm(folder, { recursive: true, force: true });
  }
  if (reason === 'uninstalled') log(`The agent was uninstalled; ${stateFile} is deleted.`);
  if (reason === 'stopped') log('The agent stopped.');
  if (reason === 'updated') log('The agent ends, so that the new version begins.');
  return exitCode(reason);
}

/** What the service manager or the watchdog reads. */
export function exitCode(reason: Awaited<ReturnType<typeof runAgent>>): number {
  return reason === 'gone' ? GONE : reason === 'updated' ? RESTART : 0;
}
