/** Files, as live tools list, read and write them. */

export const FILE_TYPES = ['file', 'directory', 'symlink'] as const;
/** Entries of one listing; a longer one is `truncated`. */
export const MAX_FILE_ENTRIES = 5_000;

export interface FileEntry {
  name: string;
  path: string;
  type: (typeof FILE_TYPES)[number];
  /** Bytes. */
  size: number | null;
  modified: string | null;
  permissions: string | null;
  hidden: boolean;
}
export interface FileList {
  path: string;
  parent: string | null;
  entries: FileEntry[];
  truncated: boolean;
}
/** A file whose content was sent or received. */
export interface TransferredFile {
  path: string;
  /** Bytes. */
  size: number;
  /** 64 hexadecimal digits. */
  sha256: string;
}
