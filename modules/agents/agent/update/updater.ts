/** Brings the agent to another version: download, verify, try, back up, replace, restart; or back again (section 3). */
import { execFile } from 'node:child_process';
import { chmod, rm } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { download } from './download.ts';
import { backupOf, exchange, restore } from './exchange.ts';
import { fileFault, UpdateFault } from './fault.ts';
import { type Link, mayInstall, type Rules, type Wanted } from './manifest.ts';
import type { RecordStore } from './record.ts';

export interface Updater {
  /** The file that runs as the agent. */
  program: string;
  record: RecordStore;
  wanted: Wanted;
  rules: Rules;
  /** Asks the server for the link of this moment, by the offer's url. */
  link(): Promise<Link>;
  /** Tells the server (POST update-status); a report that is lost must not end the update. */
  report(state: 'downloading' | 'verifying' | 'installing' | 'restarting' | 'failed', reason?: string): Promise<void>;
  /** Ends this process so that the service manager starts the new program. */
  restart(): void;
  /** What the new program must answer with exit code 0 before it replaces the old one. */
  trialArgs: readonly string[];
  trialMs: number;
  signal: AbortSignal;
}

/** True when the restart was asked for; every failure is reported, and leaves the old program as it was. */
export async function update(updater: Updater): Promise<boolean> {
  const fresh = `${updater.program}.new`;
  const say: Updater['report'] = (state, reason) => updater.report(state, reason).catch(() => undefined);
  try {
    await say('downloading');
    const link = await updater.link().catch((error) => {
      throw new UpdateFault('download_failed', 'the server gave no link', error);
    });
    const expected = mayInstall(link, updater.wanted, updater.rules);
    await download(link.url, fresh, expected, updater.signal);
    await say('verifying');
    await mustStart(fresh, updater);
    await say('installing');
    // First the record: a crash between the two must not leave a new program that nobody watches.
    const { program, rules, wanted } = updater;
    await updater.record.write({ from: rules.current, to: wanted.version, program, starts: 0 });
    await exchange(program, fresh);
  } catch (error) {
    const fault = fileFault(error, 'start_failed');
    await rm(fresh, { force: true });
    await updater.record.remove();
    await say('failed', fault.reason);
    return false;
  }
  await say('restarting');
  updater.restart();
  return true;
}

/** A child that was begun while the file was written may hold it open for a moment, and then it cannot be run. */
const BUSY_TRIES = 20;
const BUSY_MS = 50;

/** A file for another processor, or one that is damaged in a way that was signed, shows itself here. */
async function mustStart(fresh: string, { trialArgs, trialMs, signal }: Updater): Promise<void> {
  await chmod(fresh, 0o755);
  for (let attempt = 1; ; attempt += 1) {
    const error = await new Promise<(Error & { code?: unknown }) | null>((resolve) => {
      execFile(fresh, [...trialArgs], { timeout: trialMs, killSignal: 'SIGKILL', signal }, resolve);
    }).catch((thrown: Error & { code?: unknown }) => thrown);
    if (!error) return;
    if (error.code !== 'ETXTBSY' || attempt === BUSY_TRIES) {
      throw new UpdateFault('start_failed', `the new program does not start: ${error.message}`);
    }
    await setTimeout(BUSY_MS, undefined, { signal });
  }
}

/** Unconfirmed beginnings of a new version after which the old one comes back. */
const MOST_STARTS = 3;

export type Began = 'plain' | 'new' | 'returned' | 'rolled_back';

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
  if (known.starts < MOST_STARTS) {
    await record.write({ ...known, starts: known.starts + 1 });
    return 'new';
  }
  if (!(await restore(known.program))) {
    await record.remove();
    return 'plain';
  }
  await record.write({ ...known, rolledBack: true });
  return 'returned';
}

/** To be called after a heartbeat was answered, or the roll-back was reported: the update is over. */
export async function settle(record: RecordStore): Promise<void> {
  const known = await record.read();
  if (!known) return;
  if (!known.rolledBack) await rm(backupOf(known.program), { force: true });
  await record.remove();
}
