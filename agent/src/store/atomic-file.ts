/** Writes files that are whole or absent, never half, readable by their owner only. */
import { chmod, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

let counter = 0;

/** Creates the folder with mode 0700 when it is missing. */
export async function ensurePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** Writes to a temporary file beside the target (0600), flushes it and its folder, and renames it into place. */
export async function writeAtomically(path: string, text: string): Promise<void> {
  counter += 1;
  const temporary = `${path}.${process.pid}-${counter}.tmp`;
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    // The mode given to open() is narrowed by the umask; a umask never widens it, but may take away the owner's bits.
    await chmod(temporary, 0o600);
    await rename(temporary, path);
  } catch (fault) {
    await rm(temporary, { force: true });
    throw fault;
  }
  await syncFolder(dirname(path));
}

/** Flushes the names in a folder, so that a renaming outlives a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open a folder for flushing; its rename is durable enough for our purpose.
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
