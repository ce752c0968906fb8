/** Recognizes a closed file by device and inode, whatever name it was opened by. */
import type { BigIntStats } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type FilePlaces, ToolError } from './contract.ts';

/** What may follow the name of a closed file in the names of its copies, temporary files and neighbours. */
export const AFTER_NAME = /^$|^[/\\.~-]/;

export const denial = (): ToolError => new ToolError('DENIED', 'this file is not open to remote users');

/**
 * Throws DENIED where the opened file is one of the closed files. A hard link has a name that no rule knows, and a symbolic
 * link may change after its target was checked, so the opened file itself is compared.
 */
export async function mustNotBeClosed(opened: BigIntStats, places: FilePlaces): Promise<void> {
  for (const denied of places.denied) {
    // The names of a folder are read, since `denied` may be the beginning of several names and itself none of them.
    for (const name of await readdir(dirname(denied)).catch(() => [])) {
      if (!startsLike(name, basename(denied))) continue;
      if (await holds(join(dirname(denied), name), opened, stat)) throw denial();
    }
  }
}

function startsLike(name: string, beginning: string): boolean {
  const [one, other] = process.platform === 'linux' ? [name, beginning] : [name.toLowerCase(), beginning.toLowerCase()];
  return one.startsWith(other) && AFTER_NAME.test(one.slice(other.length));
}

/** Whether a path is the opened file or a folder that contains it; links below that folder are not followed. */
async function holds(path: string, opened: BigIntStats, look: typeof stat | typeof lstat): Promise<boolean> {
  const found = await look(path, { bigint: true }).catch(() => undefined);
  // A file has no hard link on another device, so a mounted folder such as one of /proc needs no search.
  if (!found || found.dev !== opened.dev) return false;
  if (!found.isDirectory()) return found.ino === opened.ino;
  for (const name of await readdir(path).catch(() => [])) {
    if (await holds(join(path, name), opened, lstat)) return true;
  }
  return false;
}
