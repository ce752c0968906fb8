/** Objects as files below a folder. */
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { ObjectStore } from './store.ts';

/** Drafts have a dot and an id behind their key. */
const DRAFT = /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function folderStore(root: string): ObjectStore {
  const pathOf = (key: string) => join(root, ...key.split('/'));
  return {
    async put(key, content) {
      const path = pathOf(key);
      const draft = `${path}.${randomUUID()}`;
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      try {
        await writeDraft(draft, content);
        // A rename makes the object visible with all its bytes or not at all.
        await rename(draft, path);
        await syncFolder(dirname(path));
      } finally {
        await rm(draft, { force: true });
      }
    },
    read: async (key) => (await open(pathOf(key))).createReadStream(),
    async list(below) {
      const paths = (await filesBelow(join(root, below))).filter((path) => !DRAFT.test(path));
      const found = await Promise.all(
        paths.map(async (path) => ({
          key: relative(root, path).split(sep).join('/'),
          size: (await stat(path)).size,
        })),
      );
      return found.sort((a, b) => (a.key < b.key ? -1 : 1));
    },
    async removeDrafts(before) {
      let removed = 0;
      for (const path of await filesBelow(root)) {
        if (!DRAFT.test(path)) continue;
        const file = await stat(path).catch(() => null);
        if (!file || file.mtime >= before) continue;
        await rm(path, { force: true });
        removed += 1;
      }
      return removed;
    },
    close: () => undefined,
  };
}

async function writeDraft(draft: string, content: string | Uint8Array): Promise<void> {
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Without this a power failure may forget the new name. Some file systems cannot do it. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path).catch(() => null);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}

/** Before the first object there is no folder. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return [];
    },
  );
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
