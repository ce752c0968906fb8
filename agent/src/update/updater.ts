/** Brings the agent to another version: download, verify, try, back up, replace, restart; or back again. */
import { execFile } from 'node:child_process';
import { chmod, rm } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { download } from './download.ts';
import { backupOf, exchange, restore } from './exchange.ts';
import { fileFault, UpdateFault } from './fault.ts';
import { type Link, mayInstall, type Rules, type Wanted } from './manifest.ts';
import type { RecordStore, UpdateRecord } from './record.ts';

export type ReportedState = 'downloading' | 'verifying' | 'installing' | 'restarting' | 'failed';

export interface Updater {
  /** The file that runs as the agent. */
  program: string;
  record: RecordStore;
  wanted: Wanted;
  rules: Rules;
  /** Asks the server for the link of this moment, by the offer's url. */
  link(): Promise<Link>;
  /** Tells the server (POST update-status); a report that is lost must not end the update. */
  report(state: ReportedState, reason?: string): Promise<void>;
  /** Ends this process so that the service manager starts the new program. */
  restart(): void;
  /** What the new program must answer with its version and exit code 0 before it replaces the old one. */
  trialArgs: readonly string[];
  trialMs: number;
  signal: AbortSignal;
}

const freshOf = (program: string): string => `${program}.new`;

/** Leaves the new program beside the old one, verified and tried. Returns what stood against it, already reported. */
export async function prepare(updater: Updater): Promise<UpdateFault | undefined> {
  const { program, wanted, rules, signal } = updater;
  try {
    await say(updater, 'downloading');
    const link = await updater.link().catch((error) => {
      throw new UpdateFault('download_failed', 'the server gave no link', error);
    });
    await download(link.url, freshOf(program), mayInstall(link, wanted, rules), signal);
    await say(updater, 'verifying');
    await mustStart(freshOf(program), updater);
    return undefined;
  } catch (error) {
    return fail(updater, error);
  }
}

/** Puts the prepared program in the place of the old one and asks for the restart. Returns what stood against it. */
export async function install(updater: Updater): Promise<UpdateFault | undefined> {
  const { program, rules, wanted, record } = updater;
  try {
    updater.signal.throwIfAborted();
    await say(updater, 'installing');
    // The record comes first: a crash between the two must not leave an unwatched new program.
    await record.write({ from: rules.current, to: wanted.version, program, starts: 0, at: new Date().toISOString() });
    await exchange(program, freshOf(program));
  } catch (error) {
    await record.remove();
    return fail(updater, error);
  }
  await say(updater, 'restarting');
  updater.restart();
  return undefined;
}

/** A report that is lost must not end the update. */
async function say(updater: Updater, state: ReportedState, reason?: string): Promise<void> {
  await updater.report(state, reason).catch(() => undefined);
}

async function fail(updater: Updater, error: unknown): Promise<UpdateFault> {
  const fault = fileFault(error, 'start_failed');
  await rm(freshOf(updater.program), { force: true });
  // An agent that was told to stop did not fail; the server offers again what it does not hear of.
  if (!updater.signal.aborted) await say(updater, 'failed', fault.reason);
  return fault;
}

/** A child that was begun while the file was written may hold it open for a moment, and then it cannot be run. */
const BUSY_TRIES = 20;
const BUSY_MS = 50;

/** A file for another processor, or one that is damaged in a way that was signed, shows itself here. */
async function mustStart(fresh: string, { trialArgs, trialMs, signal, wanted }: Updater): Promise<void> {
  await chmod(fresh, 0o755);
  for (let attempt = 1; ; attempt += 1) {
    let said = '';
    const error = await new Promise<(Error & { code?: unknown }) | null>((resolve) => {
      execFile(fresh, [...trialArgs], { timeout: trialMs, killSignal: 'SIGKILL', signal }, (fault, stdout) => {
        said = stdout.trim();
        resolve(fault);
      });
    }).catch((thrown: Error & { code?: unknown }) => thrown);
    // One that takes itself for another version would never be seen to have arrived.
    if (!error && said !== wanted.version)
      throw new UpdateFault('start_failed', `it says that it is ${said.slice(0, 50)}`);
    if (!error) return;
    if (error.code !== 'ETXTBSY' || attempt === BUSY_TRIES) {
      throw new UpdateFault('start_failed', `the new program does not start: ${error.message}`);
    }
    await setTimeout(BUSY_MS, undefined, { signal });
  }
}

/** Unconfirmed beginnings of a new version after which the old one comes back. */
export const MAX_UNCONFIRMED_STARTS = 3;

export type Began = 'plain' | 'new' | 'returned' | 'rolled_back';

/** Puts the old program back and remembers that the server has to hear of it; false where there is nothing to go back to. */
export async function rollBack(record: RecordStore, known: UpdateRecord): Promise<boolean> {
  const restored = await restore(known.program);
  if (restored) await record.write({ ...known, rolledBack: true });
  else await record.remove();
  return restored;
}

/**
 * To be called first when the agent begins. `returned`: the old program was put back by this call, so this process must
 * end. `rolled_back`: the old version runs again, which the server must be told (confirmed by `settle`).
 */
export async function begin(record: RecordStore, version: string): Promise<Began> {
  const known = await record.read();
  if (!known) return 'plain';
  if (version === known.from) {
    await record.write({ ...known, rolledBack: true });
    return 'rolled_back';
  }
  if (version !== known.to) {
    await record.remove();
    return 'plain';
  }
  if (known.starts < MAX_UNCONFIRMED_STARTS) {
    await record.write({ ...known, starts: known.starts + 1 });
    return 'new';
  }
  return (await rollBack(record, known)) ? 'returned' : 'plain';
}

/** To be called after a heartbeat was answered, or the roll-back was reported: the update is over. */
export async function settle(record: RecordStore): Promise<void> {
  const known = await record.read();
  if (!known) return;
  if (!known.rolledBack) await rm(backupOf(known.program), { force: true });
  await record.remove();
}
