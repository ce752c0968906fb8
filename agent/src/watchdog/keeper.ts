/** The two ways to have an agent run: as a child of the watchdog, or through the service manager of the system. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

/** How a started agent ended; null while it runs, and where a service manager keeps it. */
export type Ending = { code: number | null } | null;

export interface Keeper {
  /** Starts the agent when none runs; with a service manager, only after giving that the time to do so. */
  readonly alone: boolean;
  /** The process that this keeper started, while it lives. */
  readonly pid: number | undefined;
  /** The end of what was started last. */
  readonly ending: Ending;
  /** Starts the agent; one that runs under a service manager is started anew. Rejects with a sentence. */
  start(): Promise<void>;
  /** Ends a process of the agent: asks first, and no longer after `graceMs`. */
  stop(pid: number, graceMs: number): Promise<void>;
}

/** An agent as the watchdog's own child; it outlives a watchdog that makes way for a newer one. */
export function childKeeper(program: string, args: readonly string[]): Keeper {
  let child: ChildProcess | undefined;
  let ending: Ending = null;
  return {
    alone: true,
    get pid() {
      return ending === null ? child?.pid : undefined;
    },
    get ending() {
      return ending;
    },
    async start() {
      ending = null;
      const started = spawn(program, [...args], { stdio: ['ignore', 'inherit', 'inherit'], windowsHide: true });
      child = started;
      started.once('exit', (code) => {
        ending = { code };
      });
      started.once('error', () => {
        ending ??= { code: null };
      });
      await once(started, 'spawn').catch((fault: Error) => {
        throw new Error(`${program} cannot be started: ${fault.message}`);
      });
    },
    stop: endProcess,
  };
}

/** An agent that is a service of systemd or launchd. */
export function serviceKeeper(name: string): Keeper {
  return {
    alone: false,
    pid: undefined,
    ending: null,
    start: () =>
      process.platform === 'darwin'
        ? run('launchctl', ['kickstart', '-k', `system/${name}`])
        : run('systemctl', ['restart', name]),
    stop: endProcess,
  };
}

function run(program: string, args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { timeout: 60_000 }, (fault, _, stderr) => {
      if (fault) reject(new Error(`${program} ${args.join(' ')}: ${stderr.trim().split('\n')[0] || fault.message}`));
      else resolve();
    });
  });
}

const POLL_MS = 50;

async function endProcess(pid: number, graceMs: number): Promise<void> {
  for (const [signal, patience] of [
    ['SIGTERM', graceMs],
    ['SIGKILL', 5_000],
  ] as const) {
    if (!isAlive(pid)) return;
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    const end = performance.now() + patience;
    while (isAlive(pid) && performance.now() < end) await wait(POLL_MS);
  }
}

/** Whether a process of this number lives; one of another user does as well. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (fault) {
    return (fault as NodeJS.ErrnoException).code === 'EPERM';
  }
}
