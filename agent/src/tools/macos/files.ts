/** Where files lie on macOS, which of them Finder hides, and what is nobody's business. */
import { posix } from 'node:path';
import type { Ask } from '../../process/ask.ts';
import type { FilePlaces } from '../contract.ts';
import { hiddenByFolder } from '../hidden.ts';
import { rootEntry } from '../root-entry.ts';

/** Hashes of passwords and keys of the machine. Links into /private are named both ways. */
const SECRETS = [
  '/etc/master.passwd',
  '/var/db/dslocal/nodes',
  '/var/db/SystemKey',
  '/var/db/auth.db',
  '/Library/Keychains/System.keychain',
  '/var/root/Library/Keychains',
];

/** `own` are the files and folders of the agent. */
export function macosFiles(ask: Ask, own: readonly string[]): FilePlaces {
  const hidden = hiddenByFolder(async (folder, signal) => {
    const args = [folder, '-maxdepth', '1', '-flags', '+hidden', '-print0'];
    const { stdout } = await ask('/usr/bin/find', args, { signal });
    return stdout.split('\0').map((path) => posix.basename(path));
  });
  return {
    roots: async () => [rootEntry('/', '/')],
    async isHidden(path, signal) {
      const { dir, base } = posix.parse(path);
      if (base.startsWith('.')) return true;
      // The path is absolute, so `find` cannot take it for an option.
      return base !== '' && dir.startsWith('/') && (await hidden(dir, signal)).has(base);
    },
    denied: [
      ...SECRETS,
      ...SECRETS.filter((path) => /^\/(etc|var)\//.test(path)).map((path) => `/private${path}`),
      ...own,
    ],
  };
}
