/** Stores of bytes under keys: an S3-compatible bucket where one is configured, else a folder of this installation. */
import type { Readable } from 'node:stream';

/** First and last byte, both included. */
export interface ByteRange {
  from: number;
  to: number;
}
export type StoreKind = 'folder' | 'bucket';

/** Must not be used within a transaction: it waits for a disk or for the network. */
export interface ObjectStore {
  readonly kind: StoreKind;
  /**
   * Resolves when all bytes are stored for good. Until then nothing can be read under the key, also when the process is
   * killed. Writing a key again replaces its content. The content is in memory: what is large is put in several objects.
   */
  put(key: string, content: string | Uint8Array): Promise<void>;
  /** Rejects with ObjectMissing. The caller reads the stream to its end or destroys it. */
  read(key: string, range?: ByteRange): Promise<Readable>;
  /** What lies under a folder, which is empty or ends in a slash, at any depth, in the order of the keys. */
  list(folder: string): Promise<{ key: string; size: number }[]>;
  /** Does nothing where there is none. */
  remove(key: string): Promise<void>;
  /** Removes what killed processes left of puts that began before this time. Returns how many. */
  removeDrafts(before: Date): Promise<number>;
  close(): void;
}

/** Thrown for a key without an object. */
export class ObjectMissing extends Error {
  constructor(key: string) {
    super(`There is no object ${key}`);
    this.name = 'ObjectMissing';
  }
}

export interface StoreArea {
  /** The folder in the data folder. */
  folder: string;
  /** What its keys begin with in the bucket; empty or with a slash at its end. */
  prefix: string;
}
/** Archives and checkpoints of the audit trail. */
export const ARCHIVE: StoreArea = { folder: 'archive', prefix: '' };
/** Files of tenants; their names are random. */
export const OBJECTS: StoreArea = { folder: 'objects', prefix: 'objects/' };
/** Programs of the agent, which an operator puts into the bucket; a local folder of releases is configured apart. */
export const RELEASES: StoreArea = { folder: 'releases', prefix: 'agents/' };
