/** Sees to it that one live process at a time uses a data folder's embedded server. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { codeOf, EmbeddedServerError, fileFault } from './error.ts';

/** When the process started, in words that no later process with the same id shares; undefined when it is gone. */
function birthOf(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      // Field 22 of stat, counted behind the program's name, which may hold blanks and brackets itself.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      if (fields[0] === 'Z') return undefined;
      return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${fields[19]}`;
    }
    if (process.platform !== 'win32')
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)])
        .toString()
        .trim();
    process.kill(pid, 0);
    return 'alive';
  } catch {
    return undefined;
  }
}

/** The process id of the live holder that a lock file's text names, or undefined. */
function holderIn(text: string): number | undefined {
  const [pid, birth] = text.trim().split(' ', 2);
  return birth && birthOf(Number(pid)) === birth ? Number(pid) : undefined;
}

/**
 * Takes the lock file. Returns the function that gives it back.
 * @throws {EmbeddedServerError} when a live process, this one included, holds it
 */
export async function takeLock(path: string): Promise<() => Promise<void>> {
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, `${process.pid} ${birthOf(process.pid)}\n`, { flag: 'wx', mode: 0o600 });
    // A link appears with its content and only if nothing is there. Each round clears at most one stale lock.
    for (let round = 0; round < 10; round++) {
      try {
        await link(draft, path);
        return () => rm(path, { force: true });
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error;
      }
      await clearStale(path);
    }
    throw new EmbeddedServerError(`Could not take the lock ${path}.`);
  } catch (error) {
    throw fileFault(`take the lock ${path}`, error);
  } finally {
    await rm(draft, { force: true }).catch(() => undefined);
  }
}

async function clearStale(path: string): Promise<void> {
  const inUse = (pid: number) =>
    new EmbeddedServerError(
      `The embedded database is in use by another Quartermaster process (process id ${pid}). Stop that one, or set DATABASE_URL to a PostgreSQL server of your own: several processes can share that.`,
    );
  const read = async (file: string) => readFile(file, 'utf8').catch(() => '');
  const holder = holderIn(await read(path));
  if (holder) throw inUse(holder);
  const aside = `${path}.${randomUUID()}`;
  await rename(path, aside).catch(() => undefined);
  try {
    // Between reading and renaming another process may have cleared the stale lock and put its own there.
    const late = holderIn(await read(aside));
    if (!late) return;
    await link(aside, path).catch(() => undefined);
    throw inUse(late);
  } finally {
    await rm(aside, { force: true });
  }
}
