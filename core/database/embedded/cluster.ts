/** Makes the embedded server's data folder (the cluster) on first start and checks it on later ones. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Binaries } from './binaries.ts';
import { codeOf, EmbeddedServerError, fileFault, serverFault } from './error.ts';
import { giveTo, type ServerUser } from './user.ts';

const run = promisify(execFile);
const MAJOR = '18';

/** The database user that owns everything in the embedded server. */
export const OWNER = 'quartermaster';

/** What the server's programs get of our environment: nothing, it holds secrets. Messages stay English, we read them. */
export const SERVER_ENV = { PATH: process.env.PATH, LC_MESSAGES: 'C', TZ: 'UTC' };

/**
 * How the programs find their folder. For another user the way to it may be closed (/root, mode 0700), but a
 * process that is already inside can still work there: through its own working folder, which /proc names.
 */
export function folderArgument(folder: string, user: ServerUser): string {
  return user && process.platform === 'linux' ? '/proc/self/cwd' : folder;
}

/** The password of the database owner, made on first use and kept in a file that only its owner reads. */
export async function keepPassword(path: string): Promise<string> {
  const draft = `${path}.new`;
  try {
    await writeFile(draft, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600 });
    await link(draft, path).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
    const password = (await readFile(path, 'utf8')).trim();
    if (password) return password;
  } catch (error) {
    throw fileFault(`keep the database password in ${path}`, error);
  } finally {
    await rm(draft, { force: true }).catch(() => undefined);
  }
  throw new EmbeddedServerError(`The database password file ${path} is empty.`);
}

/** Makes the cluster in `folder` unless it is there. Call it with the lock held. Errors: EmbeddedServerError. */
export async function prepareCluster(
  folder: string,
  password: string,
  binaries: Binaries,
  user: ServerUser,
): Promise<void> {
  try {
    const version = await readFile(join(folder, 'PG_VERSION'), 'utf8').then(
      (text) => text.trim(),
      (error: unknown) => (codeOf(error) === 'ENOENT' ? undefined : Promise.reject(error)),
    );
    if (version === MAJOR) return await giveTo(user, folder);
    if (version) {
      throw new EmbeddedServerError(
        `${folder} was made by PostgreSQL ${version} and this release carries ${MAJOR}: dump it with the old release and restore it with this one.`,
      );
    }
    await makeCluster(folder, password, binaries, user);
  } catch (error) {
    throw fileFault(`prepare the database folder ${folder}`, error);
  }
}

/** Builds it beside and renames it, so that a first start which was cut off leaves nothing half made. */
async function makeCluster(folder: string, password: string, binaries: Binaries, user: ServerUser): Promise<void> {
  const draft = `${folder}-new`;
  const data = join(draft, 'data');
  await rm(draft, { recursive: true, force: true });
  await mkdir(data, { recursive: true, mode: 0o700 });
  await writeFile(join(draft, 'password'), `${password}\n`, { mode: 0o600 });
  for (const path of user ? [data, join(draft, 'password'), draft] : [])
    await chown(path, user?.uid ?? 0, user?.gid ?? 0);
  // C.UTF-8 makes trigrams and text search see letters beyond ASCII; systems without it have one of the others.
  for (const locale of ['C.UTF-8', 'en_US.UTF-8', 'C']) {
    const fault = await initialise(data, locale, binaries, user);
    if (!fault) break;
    if (!fault.includes('invalid locale name') || locale === 'C') throw serverFault(fault.trim().split('\n'), folder);
  }
  // Fails if something is in the way, except an empty folder.
  await rename(data, folder).catch((error: unknown) => {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(codeOf(error))) throw error;
    throw new EmbeddedServerError(`${folder} exists but is not a PostgreSQL data folder: move it away.`);
  });
  await rm(draft, { recursive: true, force: true });
}

/** Runs initdb; its complaint, or undefined when it went well. */
async function initialise(
  data: string,
  locale: string,
  binaries: Binaries,
  user: ServerUser,
): Promise<string | undefined> {
  const args = [
    `--pgdata=${folderArgument(data, user)}`,
    `--username=${OWNER}`,
    '--pwfile=../password',
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    `--lc-ctype=${locale}`,
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--data-checksums',
    '--no-sync',
    '--no-instructions',
  ];
  try {
    await run(binaries.initdb, args, { ...user, cwd: data, env: SERVER_ENV });
    return undefined;
  } catch (error) {
    if (error instanceof Error && 'stderr' in error && error.stderr) return String(error.stderr);
    throw error;
  }
}
