/** Stores of bytes under keys. */
import type { Readable } from 'node:stream';

/** Must not be used within a transaction: it waits for a disk or for the network. */
export interface ObjectStore {
  /**
   * Resolves when all bytes are stored for good. Until then nothing can be read under the key, also when the process is
   * killed. Writing a key again replaces its content. The content is in memory: what is large is put in several objects.
   */
  put(key: string, content: string | Uint8Array): Promise<void>;
  /** Rejects where there is none. The caller reads the stream to its end or destroys it. */
  read(key: string): Promise<Readable>;
  /** What lies under a folder, which is empty or ends in a slash, at any depth, in the order of the keys. Sizes are bytes. */
  list(folder: string): Promise<{ key: string; size: number }[]>;
  /** Removes what killed processes left of puts that began before this time. Returns how many. */
  removeDrafts(before: Date): Promise<number>;
  close(): void;
}
