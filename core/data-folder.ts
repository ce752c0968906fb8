/** Makes the data folder (DATA_DIR). */
import { access, constants, mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Thrown when the data folder cannot be used; the message is one sentence. */
export class DataFolderError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DataFolderError';
  }
}

const REASONS: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  ENOENT: 'no folder can be made there',
  ENOTDIR: 'a part of the path is a file',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
};

/**
 * Makes the folder and its parents (mode 0700) where they are missing, and checks that this account may write in it.
 * @throws {DataFolderError} one sentence that names the folder, the reason and DATA_DIR
 */
export async function makeDataFolder(folder: string): Promise<void> {
  const path = resolve(folder);
  try {
    await makeWithParents(path);
    await access(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = codeOf(error);
    const why = REASONS[code] ?? (error instanceof Error ? error.message : String(error));
    throw new DataFolderError(`Cannot use the data folder ${path}: ${why}; set DATA_DIR to a folder of your own.`, {
      cause: error,
    });
  }
}

/** Not `mkdir` with `recursive`: that never ends where a parent exists and still answers ENOENT, as /proc does. */
async function makeWithParents(path: string): Promise<void> {
  if (await exists(path)) return;
  const parent = dirname(path);
  if (parent !== path) await makeWithParents(parent);
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    // Another process made it at the same moment.
    if (codeOf(error) !== 'EEXIST') throw error;
  });
}

/** @returns false where nothing is; throws where a file is */
async function exists(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (found && !found.isDirectory()) throw Object.assign(new Error(`${path} is a file`), { code: 'ENOTDIR' });
  return found !== null;
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
