/** Where the files of a Linux machine begin, and which of them are closed. */
import { basename } from 'node:path';
import type { FilePlaces } from '../contract.ts';
import { rootEntry } from '../root-entry.ts';

/** `own`: the files that hold the agent's identity and work. */
export function linuxPlaces(own: readonly string[]): FilePlaces {
  return {
    roots: async () => [rootEntry('/', '/')],
    isHidden: async (path) => basename(path).startsWith('.'),
    // In its folder under /proc the agent's tokens could be read from its memory.
    denied: [...own, '/etc/shadow', '/etc/gshadow', '/proc/self'],
  };
}
