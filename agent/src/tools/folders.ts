/** Lists folders, the same way on all systems. */
import type { Stats } from 'node:fs';
import { lstat, opendir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type FileEntry, type FileList, MAX_FILE_ENTRIES } from '#agent-protocol';
import { type FilePlaces, ToolError } from './contract.ts';
import { fileFault, mustBePath } from './paths.ts';

const AT_ONCE = 32;

/** The entries of a folder, folders first; an empty path gives the roots. Throws NOT_FOUND, DENIED and INVALID. */
export async function listFolder(
  places: FilePlaces,
  asked: { path: string; showHidden: boolean },
  signal: AbortSignal,
): Promise<FileList> {
  if (asked.path === '') return { path: '', parent: null, entries: await places.roots(signal), truncated: false };
  const path = mustBePath(asked.path);
  const entries: FileEntry[] = [];
  let truncated = false;
  try {
    let names: string[] = [];
    const look = async (): Promise<void> => {
      for (const entry of await Promise.all(names.map((name) => entryOf(join(path, name), name, places, signal))))
        if (entry && (asked.showHidden || !entry.hidden)) entries.push(entry);
      names = [];
    };
    for await (const { name } of await opendir(path)) {
      signal.throwIfAborted();
      names.push(name);
      if (names.length >= AT_ONCE) await look();
      truncated = entries.length > MAX_FILE_ENTRIES;
      if (truncated) break;
    }
    await look();
  } catch (fault) {
    throw (await isNoFolder(path))
      ? new ToolError('INVALID', `${path} is a file, not a folder`)
      : fileFault(fault, path);
  }
  truncated ||= entries.length > MAX_FILE_ENTRIES;
  entries.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
  const parent = dirname(path);
  return { path, parent: parent === path ? '' : parent, entries: entries.slice(0, MAX_FILE_ENTRIES), truncated };
}

/** Whether there is something else than a folder. What a link leads to counts. */
const isNoFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => !found.isDirectory(),
    () => false,
  );

const rank = ({ type }: FileEntry): number => (type === 'directory' ? 0 : 1);

/** Undefined for what vanished meanwhile. */
async function entryOf(
  path: string,
  name: string,
  places: FilePlaces,
  signal: AbortSignal,
): Promise<FileEntry | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (!found) return undefined;
  return {
    name,
    path,
    type: found.isDirectory() ? 'directory' : found.isSymbolicLink() ? 'symlink' : 'file',
    size: found.isFile() ? found.size : null,
    modified: found.mtime.toISOString(),
    permissions: process.platform === 'win32' ? null : permissionsOf(found),
    hidden: await places.isHidden(path, signal),
  };
}

/** As `ls` shows them: `rwxr-xr-x`. */
export function permissionsOf({ mode }: Pick<Stats, 'mode'>): string {
  return [...'rwxrwxrwx'].map((letter, index) => ((mode >> (8 - index)) & 1 ? letter : '-')).join('');
}
