/** Runs the postgres program: starts it, waits until it is ready, stops it, ends what an earlier crash left behind. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdir, readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import type { Binaries } from './binaries.ts';
import { folderArgument, SERVER_ENV } from './cluster.ts';
import { EmbeddedServerError, serverFault } from './error.ts';
import type { ServerUser } from './user.ts';

/** Milliseconds that a shutdown may take before the server is killed. */
const PATIENCE = 30_000;

/**
 * The shell becomes postgres and leaves a watcher behind, no child of postgres, that waits at a pipe from us. When we
 * die without a word the pipe ends and the watcher asks postgres for a fast shutdown; a word means all is well.
 */
const WATCHED = '( cd / && { read -r _ <&3 || kill -INT $$; } >/dev/null 2>&1 & ) ; exec "$@" 3<&-';

/** A running postgres program. */
export interface ServerProcess {
  /** Resolves when the program ended without being stopped; never otherwise. */
  lost: Promise<void>;
  /** Fast shutdown; resolves when the program has ended. */
  stop(): Promise<void>;
}

interface Launch {
  folder: string;
  binaries: Binaries;
  user: ServerUser;
  port: number;
  settings: Record<string, string>;
  log: (line: string) => void;
}

/**
 * Starts postgres and waits until it takes connections (after a crash it first replays its log, however long).
 * @throws {EmbeddedServerError} with the reason that postgres gave
 */
export async function launch({ folder, binaries, user, port, settings, log }: Launch): Promise<ServerProcess> {
  const flags = Object.entries({ ...settings, port: String(port) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const command = [binaries.postgres, '-D', folderArgument(folder, user), ...flags];
  const watched = process.platform === 'win32' ? command : ['/bin/sh', '-c', WATCHED, 'sh', ...command];
  const child = spawn(watched[0] ?? '', watched.slice(1), {
    ...user,
    cwd: folder,
    env: SERVER_ENV,
    // A group of its own: Ctrl-C in the terminal must reach us first, we stop it in our order.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const lastLines: string[] = [];
  let stopping = false;
  const ended = endOf(child, lastLines, () => stopping);
  if (child.stderr) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (lastLines.push(line) > 30) lastLines.shift();
      log(line);
    });
  }
  releaseWatcher(child, ended);
  await ready(child, ended, folder, () => serverFault(lastLines, folder, port));
  letGo(child);
  const lost = new Promise<void>((resolve) => {
    void ended.then(() => stopping || resolve());
  });
  return {
    lost,
    async stop() {
      if (!stopping) {
        stopping = true;
        child.ref();
        child.kill('SIGINT');
      }
      const killer = setTimeout(() => child.kill('SIGKILL'), PATIENCE);
      await ended;
      clearTimeout(killer);
    },
  };
}

/** Resolves when the program has ended. An error at the start is added to `lastLines`. */
function endOf(child: ChildProcess, lastLines: string[], isStopping: () => boolean): Promise<void> {
  return new Promise<void>((resolve) => {
    child.once('error', (error) => {
      lastLines.push(error.message);
      resolve();
    });
    child.once('exit', () => {
      if (isStopping()) return resolve();
      // Its last lines may still be in the pipe; postgres' own children may hold the pipe open a little longer.
      child.once('close', () => resolve());
      setTimeout(resolve, 1000).unref();
    });
  });
}

/** Tells the watcher that the program has ended and that there is nothing to stop. */
function releaseWatcher(child: ChildProcess, ended: Promise<void>): void {
  const pipe = child.stdio[3];
  pipe?.on('error', () => undefined);
  void ended.then(() => {
    if (pipe && 'end' in pipe && typeof pipe.end === 'function') pipe.end('ended\n');
  });
}

/** The server does not keep this process alive; if the process ends without stop(), the watcher stops the server. */
function letGo(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stderr, child.stdio[3]])
    if (stream && 'unref' in stream && typeof stream.unref === 'function') stream.unref();
}

/** Waits for the word `ready` that postgres itself writes into its process file, the way pg_ctl does. */
async function ready(child: ChildProcess, ended: Promise<void>, folder: string, fault: () => Error): Promise<void> {
  let over = false;
  void ended.then(() => {
    over = true;
  });
  while (!over) {
    const lines = (await readFile(join(folder, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
    const ours = process.platform === 'win32' || Number(lines[0]) === child.pid;
    if (ours && lines[7]?.trim() === 'ready') return;
    await Promise.race([wait(10), ended]);
  }
  throw fault();
}

/**
 * Ends a server that runs in this folder although no live Quartermaster holds it: left by a process that was killed.
 * Call it with the lock held. Errors: EmbeddedServerError when it does not end.
 */
export async function endLeftovers(folder: string, log: (line: string) => void): Promise<void> {
  const file = join(folder, 'postmaster.pid');
  const first = Number((await readFile(file, 'utf8').catch(() => '')).split('\n')[0]);
  let left = await processesIn(folder, first);
  const deadline = Date.now() + PATIENCE;
  if (left.length > 0) log('A PostgreSQL that an ended process left behind still runs in this folder: stopping it.');
  if (left.includes(first)) signal(first, 'SIGINT');
  while (left.length > 0) {
    const late = Date.now() - deadline;
    // Without the main process the others end by themselves; those that do not are killed at last.
    if (late > 0) for (const pid of left) signal(pid, 'SIGKILL');
    if (late > 5000) {
      throw new EmbeddedServerError(`A PostgreSQL (process id ${left[0]}) runs in ${folder} and cannot be stopped.`);
    }
    await wait(20);
    left = await processesIn(folder, first);
  }
  // Left by kill -9, it can name the id of an unrelated live process (in a container ids repeat): postgres would refuse.
  if (process.platform === 'linux') await rm(file, { force: true });
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}

/** Ids of the postgres processes whose data folder this is: on Linux all of them, elsewhere `head` at most. */
async function processesIn(folder: string, head: number): Promise<number[]> {
  if (process.platform !== 'linux') {
    const { stdout } = spawnSync('ps', ['-o', 'args=', '-p', String(head)], { encoding: 'utf8' });
    return head > 0 && stdout?.includes('postgres') && stdout.includes(folder) ? [head] : [];
  }
  const home = await realpath(folder);
  const found: number[] = [];
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const cwd = await readlink(`/proc/${entry}/cwd`).catch(() => '');
    if (cwd !== home) continue;
    const name = await readFile(`/proc/${entry}/comm`, 'utf8').catch(() => '');
    if (name.startsWith('postgres')) found.push(Number(entry));
  }
  return found;
}
