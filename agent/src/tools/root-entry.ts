/** The entry of a root in a listing: a drive, or `/`. Only its place is known. */
import type { FileEntry } from '#agent-protocol';

export const rootEntry = (name: string, path: string): FileEntry => ({
  name,
  path,
  type: 'directory',
  size: null,
  modified: null,
  permissions: null,
  hidden: false,
});
